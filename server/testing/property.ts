/**
 * Exports fast-check for all tests: the seed is the same each time, and a property is tried at most 500 times, in `npm
 * run test:deep` as often as it specifies. `PROPERTY_SEED=random` draws a seed, a number repeats one; a failure prints
 * the values to set. `PROPERTY_RUNS` is another maximum, or `full` for none.
 */
import * as fastCheck from 'fast-check'
import { isDeep } from './depth'

// oxlint-disable-next-line oxc/no-barrel-file -- arbitraries as they are; what is below takes precedence
export * from 'fast-check'

/** The runs of a property that specifies none; fast-check's own default. */
const usualRuns = 100

export const seed = seedFrom(process.env['PROPERTY_SEED'] || undefined)
const maxRuns = maxRunsFrom(process.env['PROPERTY_RUNS'] || undefined)

function seedFrom(text = '22'): number {
  if (text === 'random') return Math.floor(Math.random() * 2 ** 31)
  if (/^-?\d+$/.test(text)) return Number(text) | 0
  throw new Error(`PROPERTY_SEED is "${text}"; it is a whole number or "random"`)
}

function maxRunsFrom(text = isDeep ? 'full' : '500'): number {
  if (text === 'full') return Number.POSITIVE_INFINITY
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new Error(`PROPERTY_RUNS is "${text}"; it is a number from 1 on or "full"`)
}

/** Returns the number of runs here of a property that wants `full` runs. A test must scale its counts to it. */
export const runsOf = (full: number): number => Math.min(full, maxRuns)

/** Throws when the property fails, with the counterexample and how to repeat it. */
export function assert<Values>(
  property: fastCheck.IAsyncProperty<Values>,
  parameters?: fastCheck.Parameters<Values>,
): Promise<void>
export function assert<Values>(
  property: fastCheck.IProperty<Values>,
  parameters?: fastCheck.Parameters<Values>,
): void
export function assert<Values>(
  property: fastCheck.IRawProperty<Values>,
  parameters: fastCheck.Parameters<Values> = {},
): Promise<void> | void {
  const { numRuns = usualRuns, ...others } = parameters
  const settings = { seed, ...others, numRuns: runsOf(numRuns) }
  const hint = `Again: PROPERTY_SEED=${settings.seed} PROPERTY_RUNS=${settings.numRuns}`
  try {
    const trying = fastCheck.assert(property, settings)
    return trying instanceof Promise ? trying.catch((cause) => fail(cause, hint)) : trying
  } catch (cause) {
    return fail(cause, hint)
  }
}

function fail(cause: unknown, hint: string): never {
  if (cause instanceof Error) cause.message += `\n${hint}`
  throw cause
}
