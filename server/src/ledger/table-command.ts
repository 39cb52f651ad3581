import * as fc from 'fast-check'

/** `isMembers`: of a member of an organization that earns it. */
interface Cost {
  cost: number
  isMembers: boolean
}

/** What is done to the tables and to their model. */
export type Command =
  | { do: 'topUp'; amount: number }
  | { do: 'take'; lease: number; need: number; wish: number; nodes: number; inBatch: boolean }
  | { do: 'giveBack'; lease: number; amount: number; isLast: boolean }
  | { do: 'settle'; lease: number; costs: Cost[]; again: boolean }
  | { do: 'end'; lease: number }
  | { do: 'renew'; lease: number }

const lease = fc.nat(2)
const amount = fc.integer({ min: 0, max: 500 })
export const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ do: fc.constant('topUp' as const), amount: fc.integer({ min: 1, max: 900 }) }),
  fc.record({
    do: fc.constant('take' as const),
    lease,
    need: amount,
    wish: amount,
    nodes: fc.integer({ min: 1, max: 4 }),
    inBatch: fc.boolean(),
  }),
  fc.record({ do: fc.constant('giveBack' as const), lease, amount, isLast: fc.boolean() }),
  fc.record({
    do: fc.constant('settle' as const),
    lease,
    costs: fc.array(fc.record({ cost: amount, isMembers: fc.boolean() }), { maxLength: 4 }),
    again: fc.boolean(),
  }),
  fc.record({ do: fc.constant('end' as const), lease }),
  fc.record({ do: fc.constant('renew' as const), lease }),
)
