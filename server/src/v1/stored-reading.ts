import type { Context } from 'hono'
import { parsingStored } from '../http/body'
import type { Env } from '../http/env'
import type { Pause } from '../wire/json-slices'

/** Parsing, and encoding again for the answer, which takes about as long. */
const timesRead = 2

/** Counts reading from a store in the share of the event loop of the account that reads. */
export function readingOf(c: Context<Env>, { accountId }: { accountId: string }): Pause {
  const pause = parsingStored(c.env.bodies.open(accountId), 0)
  return (ms) => pause(timesRead * ms)
}
