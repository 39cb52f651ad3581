import * as fc from '../property'

/** `isMembers`: the cost is of a member of an organization that earns it. */
interface Cost {
  cost: number
  isMembers: boolean
}

/** The generation that the statement carries: late and repeated statements carry an earlier one. */
type Generation = 'right' | 'earlier' | 'none'

/** A command for the tables and for their model. `hasReclaim`: its node has received the last reclaim. */
export type TableCommand =
  | { do: 'topUp'; amount: number }
  | {
      do: 'take'
      lease: number
      generation: Generation
      node: number
      need: number
      spare: number
      wish: number
      nodes: number
      isReclaiming: boolean
      inBatch: boolean
      hasReclaim: boolean
    }
  | {
      do: 'giveBack'
      lease: number
      generation: Generation
      amount: number
      isLast: boolean
      hasReclaim: boolean
    }
  | { do: 'fence'; lease: number; generation: Generation }
  | { do: 'settle'; lease: number; costs: Cost[]; isRepeated: boolean }
  | { do: 'end'; lease: number }
  | { do: 'renew'; lease: number }

const lease = fc.nat(2)
const amount = fc.integer({ min: 0, max: 500 })
const node = fc.nat(2)
const generation: fc.Arbitrary<Generation> = fc.oneof(
  { weight: 6, arbitrary: fc.constant('right' as const) },
  { weight: 1, arbitrary: fc.constantFrom('earlier' as const, 'none' as const) },
)
export const command: fc.Arbitrary<TableCommand> = fc.oneof(
  fc.record({ do: fc.constant('topUp' as const), amount: fc.integer({ min: 1, max: 900 }) }),
  fc.record({
    do: fc.constant('take' as const),
    lease,
    generation,
    node,
    need: amount,
    spare: amount,
    wish: amount,
    nodes: fc.integer({ min: 1, max: 4 }),
    isReclaiming: fc.boolean(),
    inBatch: fc.boolean(),
    hasReclaim: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('giveBack' as const),
    lease,
    generation,
    amount,
    isLast: fc.boolean(),
    hasReclaim: fc.boolean(),
  }),
  fc.record({ do: fc.constant('fence' as const), lease, generation }),
  fc.record({
    do: fc.constant('settle' as const),
    lease,
    costs: fc.array(fc.record({ cost: amount, isMembers: fc.boolean() }), { maxLength: 4 }),
    isRepeated: fc.boolean(),
  }),
  fc.record({ do: fc.constant('end' as const), lease }),
  fc.record({ do: fc.constant('renew' as const), lease }),
)
