//! Two-phase commit on tokio: the same source file that the tests explore, in production's place.

use delay_examples::two_phase_commit::accounts::transfer;

#[tokio::main]
async fn main() {
    for (balance, amount) in [(100, 70), (100, 170)] {
        println!("transfer {amount} of {balance}: {:?}", transfer(balance, amount).await);
    }
}
