import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const newPlan = async (fields: object) =>
  (await sendOperatorRequest(gateway, 'POST /plans', fields)).body
const freePlan = async () => {
  const { body } = await sendOperatorRequest(gateway, 'GET /plans?search=free')
  return Array.isArray(body['plans']) ? body['plans'][0] : undefined
}

describe('plans', () => {
  test('free exists from the start, and every new account has it', async () => {
    const free = await freePlan()
    expect(free).toEqual({
      id: expect.stringMatching(/^plan_[0-9a-hjkmnp-tv-z]{26}$/),
      name: 'free',
      requests_per_minute: 60,
      tokens_per_minute: 100_000,
      images_per_minute: null,
      audio_seconds_per_minute: null,
      concurrent_requests: 10,
      monthly_requests: null,
      monthly_spend: null,
      max_org_members: 100,
      is_default: true,
      house_pays: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const { body } = await sendOperatorRequest(gateway, 'POST /users', { email: 'new@example.com' })
    expect(body).toMatchObject({ plan_id: free.id, limits: {} })
  })

  test('are made, changed and deleted; an omitted limit means no limit', async () => {
    const made = await sendOperatorRequest(gateway, 'POST /plans', {
      name: 'Large',
      monthly_spend: 12.5,
    })
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        name: 'Large',
        requests_per_minute: null,
        tokens_per_minute: null,
        images_per_minute: null,
        audio_seconds_per_minute: null,
        concurrent_requests: null,
        monthly_spend: 12.5,
        is_default: false,
      },
    ])
    const path = `/plans/${String(made.body['id'])}`
    const changed = await sendOperatorRequest(gateway, `PUT ${path}`, {
      concurrent_requests: 7,
      monthly_spend: null,
      images_per_minute: 20,
      audio_seconds_per_minute: 600,
    })
    expect(changed.body).toMatchObject({
      concurrent_requests: 7,
      monthly_spend: null,
      images_per_minute: 20,
      audio_seconds_per_minute: 600,
    })
    const gone = await sendOperatorRequest(gateway, `DELETE ${path}`)
    expect(gone.body).toMatchObject({ success: true })
    expect((await sendOperatorRequest(gateway, `DELETE ${path}`)).status).toBe(404)
  })

  test.each([
    [{}, 'name', 'required'],
    [{ name: 'x', requests_per_minute: 0 }, 'requests_per_minute', 'out_of_range'],
    [{ name: 'x', tokens_per_minute: 1.5 }, 'tokens_per_minute', 'wrong_type'],
    [{ name: 'x', images_per_minute: 0 }, 'images_per_minute', 'out_of_range'],
    [{ name: 'x', audio_seconds_per_minute: 0.5 }, 'audio_seconds_per_minute', 'wrong_type'],
    [{ name: 'x', concurrent_requests: '5' }, 'concurrent_requests', 'wrong_type'],
    [{ name: 'x', monthly_spend: 1.234 }, 'monthly_spend', 'out_of_range'],
    [{ name: 'FREE' }, 'name', 'taken'],
  ])('%j is rejected at %s: %s', async (body, param, issue) => {
    expect(problem(await sendOperatorRequest(gateway, 'POST /plans', body))).toEqual([
      400,
      param,
      issue,
    ])
  })

  test('a plan in use, or the default, is not deleted', async () => {
    const { id } = await newPlan({ name: 'used' })
    await sendOperatorRequest(gateway, 'POST /users', { email: 'user@example.com', plan_id: id })
    const used = await sendOperatorRequest(gateway, `DELETE /plans/${String(id)}`)
    expect(problem(used)).toEqual([400, null, 'wrong_state'])
    const free = await freePlan()
    const kept = await sendOperatorRequest(gateway, `DELETE /plans/${free.id}`)
    expect(problem(kept)).toEqual([400, null, 'wrong_state'])
  })

  test('the default is handed over, never dropped', async () => {
    const free = await freePlan()
    const { id } = await newPlan({ name: 'starter', is_default: true })
    expect((await freePlan()).is_default).toBe(false)
    const { body } = await sendOperatorRequest(gateway, 'POST /users', {
      email: 'starter@example.com',
    })
    expect(body).toMatchObject({ plan_id: id })
    const dropped = await sendOperatorRequest(gateway, `PUT /plans/${String(id)}`, {
      is_default: false,
    })
    expect(problem(dropped)).toEqual([400, null, 'wrong_state'])
    await sendOperatorRequest(gateway, `PUT /plans/${free.id}`, { is_default: true })
    expect((await freePlan()).is_default).toBe(true)
  })

  test.each(['plan_00000000000000000000000000', 'plan_1', '%00', "'"])(
    '%s is not a plan',
    async (id) => {
      expect((await sendOperatorRequest(gateway, `PUT /plans/${id}`, { name: 'x' })).status).toBe(
        404,
      )
      expect((await sendOperatorRequest(gateway, `DELETE /plans/${id}`)).status).toBe(404)
    },
  )
})

describe('limits of one account', () => {
  test('override the plan; null lifts a limit', async () => {
    const limits = {
      requests_per_minute: 5,
      tokens_per_minute: null,
      images_per_minute: 3,
      audio_seconds_per_minute: null,
      monthly_spend: 3.5,
    }
    const { body } = await sendOperatorRequest(gateway, 'POST /users', {
      email: 'own@example.com',
      limits,
    })
    expect(body['limits']).toEqual(limits)
    const path = `PUT /users/${String(body['id'])}`
    const changed = await sendOperatorRequest(gateway, path, { limits: { concurrent_requests: 2 } })
    expect(changed.body['limits']).toEqual({ concurrent_requests: 2 })
  })

  test.each([
    [{ limits: { requests_per_minute: -1 } }, 'limits.requests_per_minute', 'out_of_range'],
    [{ limits: 5 }, 'limits', 'wrong_type'],
    [{ plan_id: 'plan_00000000000000000000000000' }, 'plan_id', 'unknown_value'],
    [{ plan_id: null }, 'plan_id', 'wrong_type'],
  ])('%j is rejected at %s: %s', async (fields, param, issue) => {
    const email = `${crypto.randomUUID()}@example.com`
    const { body } = await sendOperatorRequest(gateway, 'POST /users', { email })
    const refused = await sendOperatorRequest(gateway, `PUT /users/${String(body['id'])}`, fields)
    expect(problem(refused)).toEqual([400, param, issue])
  })
})
