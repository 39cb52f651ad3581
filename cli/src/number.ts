import { UsageError } from './server'
import type { Invocation } from './verb'

/** Parses an option as a whole number, undefined where it was not given. Throws `UsageError`. */
export function parseInteger(
  { value }: Pick<Invocation, 'value'>,
  name: string,
): number | undefined {
  const text = value(name)
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text)
  throw new UsageError(`--${name} must be a whole number above 0, such as 4096.`)
}

/** Parses an option as an amount in USD, undefined where it was not given. Throws `UsageError`. */
export function usdOf({ value }: Pick<Invocation, 'value'>, name: string): number | undefined {
  const text = value(name)
  if (text === undefined) return undefined
  if (/^\d+(\.\d{1,9})?$/.test(text)) return Number(text)
  throw new UsageError(`--${name} must be an amount in USD, such as 0.15.`)
}
