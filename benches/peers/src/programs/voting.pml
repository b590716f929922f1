/* Two-phase commit in which each participant votes as it likes: voting.rs, as Promela, for N participants.
   A send and a receive are a step each; what follows before the next of them belongs to it. */

mtype = { prepare, commit, abort };

chan order[N] = [1] of { mtype };
chan votes = [N] of { bool };
chan done = [N] of { bool };
chan outcome = [1] of { bool };

proctype participant(byte me)
{
    bool vote;
    mtype what = prepare;
    atomic {
        order[me] ? prepare;
        if
        :: vote = true
        :: vote = false
        fi
    }
    votes ! vote;
    atomic { order[me] ? what; assert(what != commit || vote) }
    done ! true
}

proctype coordinator()
{
    byte at = 0;
    bool vote;
    bool all = true;
    do
    :: atomic { order[at] ! prepare; at++; if :: at == N -> at = 0; break :: else fi }
    od;
    do
    :: atomic {
        votes ? vote; all = all && vote; vote = false; at++;
        if :: at == N -> at = 0; break :: else fi
    }
    od;
    do
    :: atomic { order[at] ! (all -> commit : abort); at++; if :: at == N -> at = 0; break :: else fi }
    od;
    do
    :: atomic { done ? _; at++; if :: at == N -> at = 0; break :: else fi }
    od;
    outcome ! all
}

init
{
    byte me = 0;
    bool all;
    atomic {
        run coordinator();
        do
        :: me < N -> run participant(me); me++
        :: me == N -> break
        od
    }
    outcome ? all
}
