import { afterAll, beforeAll } from 'bun:test'
import { createFundingFixture, type FundingFixture } from './fixture'
import type { Answer, Json } from '../../harness/http'
import type { Organization } from '../../harness/organization'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

/** A budget of one request a day. */
export const one = { name: 'One', unit: 'requests', amount: 1, window: 'day' }

export const refusal = ({ status, error }: Answer) => [status, error.code]

/** Reads the names of the budgets in an answer; undefined where it has no such list. */
export function namesOf({ body }: { body: Json }, list = 'budgets') {
  const budgets: unknown = body[list]
  return Array.isArray(budgets) ? budgets.map(({ name }: Json) => name) : undefined
}

/** The gateway of a test file of budgets of organizations, and requests of their managers. Starts and ends with the file. */
export function organizationBudgets() {
  let on: FundingFixture
  beforeAll(async () => {
    await untilDayLasts()
    on = await createFundingFixture()
  }, 60_000 + dayWaitMs)
  afterAll(async () => {
    on.fixture.gateway.recorder.verify()
    await on[Symbol.asyncDispose]()
  })
  return {
    on: () => on,
    /** Makes an organization with credit, and a member whose requests it pays. */
    paying: async () => {
      const organization = await on.roomy()
      await on.grant({ organization_id: organization.id })
      return { organization, member: await on.funded(organization) }
    },
    /** Makes a budget of one request a day, with other fields. Resolves with it, or rejects with the answer. */
    newBudget: async ({ owner, path }: Organization, fields: Json = {}): Promise<Json> => {
      const sent = { ...one, ...fields }
      const { status, text, body } = await on.api(owner, `POST ${path}/budgets`, sent)
      if (status !== 201) throw new Error(text)
      return body
    },
    readOne: async ({ owner, path }: Organization, { id }: Json): Promise<Json> =>
      (await on.api(owner, `GET ${path}/budgets/${String(id)}`)).body,
  }
}
