import { UsageError } from './server'
import type { Asked } from './verb'

/** The whole number that an option has, undefined where it was not given. Throws `UsageError`. */
export function wholeNumber({ value }: Pick<Asked, 'value'>, name: string): number | undefined {
  const text = value(name)
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text)
  throw new UsageError(`--${name}: is a whole number above 0, such as 4096.`)
}

/** The amount in USD that an option has, undefined where it was not given. Throws `UsageError`. */
export function usdOf({ value }: Pick<Asked, 'value'>, name: string): number | undefined {
  const text = value(name)
  if (text === undefined) return undefined
  if (/^\d+(\.\d{1,9})?$/.test(text)) return Number(text)
  throw new UsageError(`--${name}: is an amount in USD, such as 0.15.`)
}
