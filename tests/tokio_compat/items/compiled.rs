//! What compiles an item by tokio's name, over tokio and over us. Also for `plain/tests/items.rs`, where ours are to be theirs.

/// Compiles every item given over tokio and over us, and returns their names.
macro_rules! items {
    ($theirs:ident => $ours:path $(, base $their_base:ident => $our_base:ident)?; $($entry:tt)*) => {
        pub(super) fn theirs() -> Vec<String> {
            use $theirs as root;
            $(use $their_base as base;)?
            let mut names = Vec::new();
            $(item!(names $entry);)*
            names
        }

        pub(super) fn ours() -> Vec<String> {
            use $ours as root;
            $(use $our_base as base;)?
            let mut names = Vec::new();
            $(item!(names $entry);)*
            names
        }
    };
}

/// One item: a function, a macro, a type with what it can do and is, a trait with its methods.
macro_rules! item {
    ($names:ident { fn [$($module:ident)::*] $name:ident $([$($args:tt)*])? }) => {
        let _ = root::$($module::)*$name$(::<$($args)*>)?;
        $names.push(concat!($(stringify!($module), "::",)* stringify!($name)).to_owned());
    };
    ($names:ident { macro $name:ident }) => {
        {
            #[expect(unused_imports, reason = "that it is there is all that is asked")]
            use root::$name;
        }
        $names.push(concat!(stringify!($name), "!").to_owned());
    };
    (
        $names:ident { type [$($module:ident)::*] $name:ident $([$($args:tt)*])?
            { $($method:ident $([$($more:tt)*])?),* } $(is { $($is:ident $([$($bound:tt)*])?),* })? }
    ) => {{
        type Of = root::$($module::)*$name$(<$($args)*>)?;
        const OF: &str = concat!($(stringify!($module), "::",)* stringify!($name));
        $names.push(OF.to_owned());
        $(
            let _ = Of::$method$(::<$($more)*>)?;
            $names.push(format!("{OF}::{}", stringify!($method)));
        )*
        $($(
            item!(@is $is $([$($bound)*])?);
            $names.push(format!("{OF}: {}", stringify!($is)));
        )*)?
    }};
    (@is $is:ident) => { item!(@is $is [$is]) };
    (@is $is:ident [$($bound:tt)*]) => {{
        fn is<T: ?Sized + $($bound)*>() {}
        is::<Of>();
    }};
    (
        $names:ident { trait [$($module:ident)::*] $name:ident for [$($full:tt)*]
            { $($method:ident $([$($more:tt)*])?),* } }
    ) => {{
        use root::$($module::)*$name as Trait;
        type Of = $($full)*;
        const OF: &str = concat!($(stringify!($module), "::",)* stringify!($name));
        $names.push(OF.to_owned());
        $(
            let _ = <Of as Trait>::$method$(::<$($more)*>)?;
            $names.push(format!("{OF}::{}", stringify!($method)));
        )*
    }};
}
pub(super) use item;
pub(super) use items;
