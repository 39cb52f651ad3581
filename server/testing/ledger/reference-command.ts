import * as fc from '../property'

/** A command that can happen to two accounts on three nodes; `pick` chooses among those that apply. */
export type LeaseCommand =
  | { do: 'topUp'; account: number; amount: number }
  | { do: 'admit'; node: number; account: number; full: number; floor: number }
  | { do: 'settle'; pick: number; share: number; isMembers?: boolean }
  | { do: 'deliver'; pick: number; fate: 'answered' | 'lost before' | 'lost after' }
  | { do: 'flush'; node: number; fate: 'answered' | 'lost before' | 'lost after' }
  | { do: 'crash' | 'tick' | 'restart'; node: number }
  | { do: 'sweep' }
  | { do: 'pass'; ms: number }

const node = fc.nat(2)
const account = fc.nat(1)
const pick = fc.nat(1000)
const amount = fc.integer({ min: 1, max: 1000 })
const fate = fc.oneof(
  { weight: 8, arbitrary: fc.constant('answered' as const) },
  { weight: 1, arbitrary: fc.constantFrom('lost before' as const, 'lost after' as const) },
)
export const command: fc.Arbitrary<LeaseCommand> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('topUp' as const), account, amount }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      node,
      account,
      full: amount,
      floor: amount,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      pick,
      share: fc.integer({ min: 0, max: 120 }),
      isMembers: fc.boolean(),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('deliver' as const), pick, fate }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('flush' as const), node, fate }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tick' as const), node }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'restart' as const), node }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'sweep' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(10, 300, 31_000, 130_000),
    }),
  },
)
