//! The two figures, as SVG: grouped bars, and lines over time with moments marked.

use plotters::{
    coord::{Shift, cartesian::Cartesian2d, types::RangedCoordf64},
    prelude::{
        ChartBuilder, ChartContext, Color, DrawingArea, EmptyElement, IntoDrawingArea, IntoFont, LineSeries,
        PathElement, RGBColor, Rectangle, SVGBackend, SeriesLabelPosition, Text, TextStyle, WHITE,
    },
    style::text_anchor::{HPos, Pos, VPos},
};
use std::{error::Error, path::Path};

const SIZE: (u32, u32) = (860, 440);
const INK: RGBColor = RGBColor(0x33, 0x38, 0x40);
const FAINT: RGBColor = RGBColor(0x7a, 0x82, 0x8c);
const GRID: RGBColor = RGBColor(0xe3, 0xe6, 0xea);
/// Two shades for each protocol: what tolerates less is lighter.
const SHADES: [RGBColor; 4] =
    [RGBColor(0x8c, 0xb4, 0xe2), RGBColor(0x2b, 0x6c, 0xb0), RGBColor(0xf0, 0xb4, 0x7a), RGBColor(0xc0, 0x5e, 0x1a)];
const MARK: RGBColor = RGBColor(0xb3, 0x26, 0x1e);

type Plane = Cartesian2d<RangedCoordf64, RangedCoordf64>;

/// What a figure says in words.
#[derive(Debug)]
pub(crate) struct About<'a> {
    pub(crate) title: &'a str,
    /// Of the values.
    pub(crate) unit: &'a str,
    /// Small, at the bottom: what it was measured on, and when.
    pub(crate) note: &'a str,
}

/// A group of bars: its name, and a value for each series.
pub(crate) type Group = (&'static str, Vec<f64>);

/// Grouped bars with their values on top.
pub(crate) fn bars(file: &Path, about: &About<'_>, series: &[&str], groups: &[Group]) -> Result<(), Box<dyn Error>> {
    assert!(series.len() <= SHADES.len(), "there is no colour for so many series");
    let root = blank(file, about)?;
    let top = groups.iter().flat_map(|(_, values)| values).fold(1.0, |top: f64, value| top.max(*value)) * 1.15;
    let mut chart = ChartBuilder::on(&root)
        .caption(about.title, text(19))
        .margin(14)
        .x_label_area_size(40)
        .y_label_area_size(74)
        .build_cartesian_2d(0.0..groups.len() as f64, 0.0..top)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh().disable_x_axis().light_line_style(WHITE).bold_line_style(GRID).axis_style(INK);
    mesh.y_desc(about.unit)
        .y_label_formatter(&|value| thousands(*value))
        .label_style(text(14))
        .axis_desc_style(text(14))
        .draw()?;

    // A group is as wide as its bars and one more, which is the gap.
    let width = 1.0 / (series.len() as f64 + 1.0);
    for (bar, (name, shade)) in series.iter().zip(SHADES).enumerate() {
        let values = groups.iter().enumerate().map(|(group, (_, values))| {
            let left = group as f64 + (bar as f64 + 0.5) * width;
            (left, values[bar])
        });
        let values: Vec<(f64, f64)> = values.collect();
        let rectangles = values.iter().map(|(left, value)| {
            let mut rectangle =
                Rectangle::new([(left + 0.06 * width, 0.0), (left + 0.94 * width, *value)], shade.filled());
            rectangle.set_margin(0, 0, 0, 0);
            rectangle
        });
        let legend = move |(x, y)| Rectangle::new([(x, y - 6), (x + 12, y + 6)], shade.filled());
        chart.draw_series(rectangles)?.label(*name).legend(legend);
        let anchored = text(13).pos(Pos::new(HPos::Center, VPos::Bottom));
        let on_top = values.iter().map(|(left, value)| {
            EmptyElement::at((left + 0.5 * width, *value)) + Text::new(thousands(*value), (0, -4), anchored.clone())
        });
        chart.draw_series(on_top)?;
    }
    let below = text(15).pos(Pos::new(HPos::Center, VPos::Top));
    let names = groups.iter().enumerate().map(|(group, (name, _))| {
        EmptyElement::at((group as f64 + 0.5, 0.0)) + Text::new((*name).to_owned(), (0, 8), below.clone())
    });
    chart.draw_series(names)?;
    legend(&mut chart, SeriesLabelPosition::UpperRight)?;
    root.present()?;
    Ok(())
}

/// A line over seconds: what it shows, and its points.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) name: &'a str,
    pub(crate) points: &'a [(f64, f64)],
}

/// Values over seconds, the last line in front, and what happened at some moments.
pub(crate) fn lines(
    file: &Path,
    about: &About<'_>,
    seconds: f64,
    lines: &[Line<'_>],
    marks: &[(f64, &str)],
) -> Result<(), Box<dyn Error>> {
    let root = blank(file, about)?;
    let top = lines.iter().flat_map(|line| line.points).fold(1.0, |top: f64, (_, value)| top.max(*value)) * 1.2;
    let mut chart = ChartBuilder::on(&root)
        .caption(about.title, text(19))
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(62)
        .build_cartesian_2d(0.0..seconds, 0.0..top)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh().light_line_style(WHITE).bold_line_style(GRID).axis_style(INK).label_style(text(14));
    mesh.x_desc("seconds").y_desc(about.unit).axis_desc_style(text(14)).x_label_formatter(&|at| format!("{at:.0}"));
    mesh.y_label_formatter(&|value| format!("{value:.0}")).draw()?;
    for (place, Line { name, points }) in lines.iter().enumerate() {
        let is_last = place + 1 == lines.len();
        let style = if is_last { SHADES[3].stroke_width(2) } else { SHADES[0].stroke_width(1) };
        let legend = move |(x, y)| PathElement::new([(x, y), (x + 14, y)], style);
        chart.draw_series(LineSeries::new(points.iter().copied(), style))?.label(*name).legend(legend);
    }
    for (at, what) in marks {
        chart.draw_series([PathElement::new([(*at, 0.0), (*at, top)], MARK.stroke_width(1))])?;
        let beside = text(14).color(&MARK).pos(Pos::new(HPos::Left, VPos::Top));
        let label = EmptyElement::at((*at, top)) + Text::new((*what).to_owned(), (6, 4), beside);
        chart.draw_series([label])?;
    }
    legend(&mut chart, SeriesLabelPosition::UpperLeft)?;
    root.present()?;
    Ok(())
}

/// What is above the note at the bottom.
fn blank<'a>(file: &'a Path, about: &About<'_>) -> Result<DrawingArea<SVGBackend<'a>, Shift>, Box<dyn Error>> {
    let root = SVGBackend::new(file, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (above, below) = root.split_vertically(SIZE.1 - 22);
    let small = text(12).color(&FAINT).pos(Pos::new(HPos::Right, VPos::Top));
    below.draw_text(about.note, &small, (i32::try_from(SIZE.0)? - 14, 0))?;
    Ok(above)
}

/// Which series is which.
fn legend<'a>(
    chart: &mut ChartContext<'a, SVGBackend<'a>, Plane>,
    position: SeriesLabelPosition,
) -> Result<(), Box<dyn Error>> {
    let mut legend = chart.configure_series_labels();
    legend.position(position).background_style(WHITE).border_style(GRID).label_font(text(14)).draw()?;
    Ok(())
}

fn text(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

/// 12345.6 as 12,346.
fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
