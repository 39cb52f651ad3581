import { hasUnit, UnitHold, type HeldLimits } from './unit-hold'

/**
 * One request under monthly limits and budgets: counted until it ends, and after that by its usage event, so that a
 * request that is refused later counts nothing. It is the hold of its spending, and has that of its tokens.
 */
export class WindowReservation extends UnitHold {
  /** Undefined where no limit is in tokens. */
  readonly tokens: UnitHold | undefined

  constructor(heldLimits: HeldLimits) {
    super(heldLimits, 'spent')
    this.tokens = hasUnit(heldLimits.limits, 'tokens')
      ? new UnitHold(heldLimits, 'tokens')
      : undefined
    for (const usage of this.usages) usage.addRunning()
  }

  override end(): void {
    if (!this.endHold()) return
    this.tokens?.end()
    for (const usage of this.usages) usage.leave()
  }
}
