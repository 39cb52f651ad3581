import type { SQL } from 'bun'
import type { Organization } from '../../harness/organization'
import { call, createModelFixture, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Json } from '../../harness/http'
import { forFile } from '../../harness/for-file'
import { paidBy } from '../payments/fixture'
import { startStripeDouble, type StripeDouble } from '../payments/stripe-double'
import type { Customer } from '../../harness/server'

export interface TrailFixture extends Fixture {
  double: StripeDouble
  sql: SQL
  api: (by: Customer, request: string, body?: Json) => ReturnType<typeof call>
  /** Returns the trail as this account reads it. Throws with the answer where that is an error. */
  trailOf: (organization: Organization, reader: Customer, query?: string) => Promise<Json[]>
  emailOf: (customer: Pick<Customer, 'userId'>) => Promise<string>
}

async function open(): Promise<TrailFixture> {
  const double = startStripeDouble()
  const fixture = await createModelFixture(paidBy(double))
  const { gateway } = fixture
  const sql = await openDatabase(gateway.dataDir)
  const api: TrailFixture['api'] = (by, request, body) => call(gateway, by, request, body)
  return {
    ...fixture,
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
      await fixture[Symbol.asyncDispose]()
      await double[Symbol.asyncDispose]()
    },
  }
}

/** One for all tests of the file that calls this. */
export const useTrailFixture = () =>
  forFile(open, async (fixture) => {
    fixture.gateway.recorder.verify()
    await fixture[Symbol.asyncDispose]()
  })

/** What was done, in the order of the list. */
export const namesOf = (changes: Json[]) => changes.map(({ action }) => action)
