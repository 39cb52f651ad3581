import type { SQL } from 'bun'
import type { Organization } from '../connections/organization'
import { call, openModelStage, type Stage } from '../connections/stage'
import { openDatabase } from '../database'
import type { Json } from '../faults/asking'
import { forFile } from '../for-file'
import { paidBy } from '../payments/stage'
import { startStripeDouble, type StripeDouble } from '../payments/stripe-double'
import type { Customer } from '../rig'

export interface TrailStage extends Stage {
  double: StripeDouble
  sql: SQL
  api: (by: Customer, request: string, body?: Json) => ReturnType<typeof call>
  /** The trail as somebody reads it. Throws with what was answered instead. */
  trailOf: (organization: Organization, reader: Customer, query?: string) => Promise<Json[]>
  emailOf: (customer: Pick<Customer, 'userId'>) => Promise<string>
}

async function open(): Promise<TrailStage> {
  const double = startStripeDouble()
  const stage = await openModelStage(paidBy(double))
  const { gateway } = stage
  const sql = await openDatabase(gateway.dataDir)
  const api: TrailStage['api'] = (by, request, body) => call(gateway, by, request, body)
  return {
    ...stage,
    double,
    sql,
    api,
    async trailOf({ path }, reader, query = '') {
      const { status, text } = await api(reader, `GET ${path}/audit-trail?${query}`)
      if (status !== 200) throw new Error(`${status}: ${text}`)
      return JSON.parse(text).changes
    },
    emailOf: async ({ userId }) =>
      String((await gateway.admin('GET', `/users/${userId}`))['email']),
    async [Symbol.asyncDispose]() {
      await sql[Symbol.asyncDispose]()
      await stage[Symbol.asyncDispose]()
      await double[Symbol.asyncDispose]()
    },
  }
}

/** One for all tests of the file that calls this. */
export const trailStage = () =>
  forFile(open, async (stage) => {
    stage.gateway.recorder.verify()
    await stage[Symbol.asyncDispose]()
  })

/** What was done, in the order of the list. */
export const namesOf = (changes: Json[]) => changes.map(({ action }) => action)
