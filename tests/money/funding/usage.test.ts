import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { waitForValue, createFundingFixture, priceNanos, type FundingFixture } from './fixture'
import type { Organization } from '../../harness/organization'
import { problem } from '../../harness/byok'
import type { Customer } from '../../harness/server'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

let on: FundingFixture

beforeAll(async () => {
  await untilDayLasts()
  on = await createFundingFixture()
}, 60_000 + dayWaitMs)
afterAll(async () => {
  on.fixture.gateway.recorder.verify()
  await on[Symbol.asyncDispose]()
})

const used = (requests: number) => ({
  requests,
  input_tokens: 5 * requests,
  output_tokens: 3 * requests,
  cost_usd: Number(BigInt(requests) * priceNanos) / 1e9,
  // Its own connection without a fee: nothing is charged, and the price counts.
  charged_usd: 0,
  counted_usd: Number(BigInt(requests) * priceNanos) / 1e9,
  avg_latency_ms: expect.any(Number),
})
const usage = async (by: Customer, { path }: Organization, query = '') =>
  (await on.api(by, `GET ${path}/usage${query}`)).body

describe('10: usage', () => {
  test('is returned by member, model and department, as the role permits', async () => {
    const organization = await on.roomy()
    await organization.connection()
    const [member, developer] = [
      await organization.member(),
      await organization.member('developer'),
    ]
    const firstDay = new Date().toISOString().slice(0, 10)
    const at = `${organization.path}/members/${member.userId}`
    await on.api(organization.owner, `PUT ${at}`, { department: 'R&D' })
    for (const by of [member, member, developer]) expect((await on.chat(by)).status).toBe(200)
    const ofMember = { user_id: member.userId, display_name: expect.any(String), ...used(2) }
    const ofDeveloper = { user_id: developer.userId, display_name: expect.any(String), ...used(1) }
    const email = expect.stringContaining('@')
    const count = async () => {
      const { usage: reported } = await usage(organization.owner, organization, '?group_by=model')
      return JSON.stringify(reported).match(/"requests":(\d+)/)?.[1]
    }
    await waitForValue(count, '3')
    const reported = await usage(organization.owner, organization)
    expect(reported['usage']).toEqual({
      by_user: [
        { ...ofMember, email },
        { ...ofDeveloper, email },
      ],
    })
    const { start, end } = JSON.parse(JSON.stringify(reported['period']))
    expect(Date.parse(end) - Date.parse(start)).toBe(30 * 86_400_000)
    expect(Date.parse(end)).toBeGreaterThan(Date.now())

    expect((await usage(developer, organization))['usage']).toEqual({
      by_user: [
        { ...ofMember, email: null },
        { ...ofDeveloper, email },
      ],
    })
    expect((await usage(member, organization))['usage']).toEqual({
      by_user: [{ ...ofMember, email }],
    })
    const byModel = await usage(developer, organization, '?group_by=model')
    expect(byModel['usage']).toEqual({ by_model: [{ model: 'fake/one', ...used(3) }] })
    const byDepartment = await usage(organization.owner, organization, '?group_by=department')
    expect(byDepartment['usage']).toEqual({
      by_department: [
        { department: 'R&D', ...used(2) },
        { department: null, ...used(1) },
      ],
    })
    // One day, or two where midnight was between.
    const lastDay = new Date().toISOString().slice(0, 10)
    const days = `?start_date=${firstDay}&end_date=${lastDay}`
    const ofToday = await usage(member, organization, days)
    expect(ofToday['usage']).toEqual({ by_user: [{ ...ofMember, email }] })
    const before = await usage(member, organization, '?start_date=2020-01-01&end_date=2020-02-01')
    expect(before).toEqual({
      period: { start: '2020-01-01T00:00:00.000Z', end: '2020-02-02T00:00:00.000Z' },
      usage: { by_user: [] },
    })
  })

  test('is visible to members only, and its query is validated', async () => {
    const organization = await on.organization()
    const { owner, path } = organization
    const stranger = await on.fixture.newCustomer()
    const unknown = `/organizations/org_${'0'.repeat(26)}/usage`
    for (const request of [`GET ${path}/usage`, `GET ${unknown}`, 'GET /organizations/x/usage']) {
      expect((await on.api(stranger, request)).status).toBe(404)
    }
    const usageFor = (query: string) => on.api(owner, `GET ${path}/usage?${query}`)
    expect(problem(await usageFor('group_by=key'))).toEqual([400, 'group_by', 'unknown_value'])
    expect(problem(await usageFor('start_date=soon'))).toEqual([400, 'start_date', 'bad_format'])
    const backwards = 'start_date=2026-02-02&end_date=2026-01-01'
    expect(problem(await usageFor(backwards))).toEqual([400, 'start_date', 'out_of_range'])
  })
})
