import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { attackFamilies } from './attack-families'
import { compareServices, describeComparison, measureComparison } from './control'
import { createControlledFixture, type ControlledFixture } from './fixture'
import { recordFigure } from '../../../server/testing/figures'

/** The effect of a hostile account on another that shares its gateway, against one that only shares its machine. */
setDefaultTimeout(180_000)

let fixture: ControlledFixture

beforeAll(async () => {
  fixture = await createControlledFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

for (const [family, attacks] of Object.entries(attackFamilies)) {
  const [id = ''] = family.split(':')
  describe(family, () => {
    test.each(attacks.map((attack) => [attack.name, attack] as const))(
      '%s runs against the victim’s gateway, and against one beside it',
      async (name, attack) => {
        const comparison = await measureComparison(fixture, attack)
        console.log(describeComparison(comparison))
        const { ratePercent, p99Factor } = compareServices(comparison.rounds)
        recordFigure(`${id}: ${name}: rate beside the control`, ratePercent, {
          unit: '%',
          atLeast: 90,
        })
        recordFigure(`${id}: ${name}: p99 beside the control`, p99Factor, { unit: 'x', atMost: 2 })
        expect(comparison.costAttacked.requests).toBeGreaterThan(0)
        expect(comparison.costBeside.requests).toBeGreaterThan(0)
      },
    )
  })
}
