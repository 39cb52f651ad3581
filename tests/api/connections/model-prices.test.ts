import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { newOrganization, type Organization } from '../../harness/organization'
import {
  call,
  completion,
  idIn,
  createModelFixture,
  problem,
  type Fixture,
} from '../../harness/byok'
import { sendRequest, messages, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/** Prices of models that only connections have, as their owners set them: 9.1. */

let fixture: Fixture
let organization: Organization
let member: Customer

const usual = { input: 1, output: 4 }

beforeAll(async () => {
  fixture = await createModelFixture()
  const { admin } = fixture.gateway
  await admin('PUT', '/config', { rates: { api_requests_per_minute: 100_000 } })
  organization = await newOrganization(fixture)
  member = await organization.member()
  const { userId: user_id } = member
  await admin('POST', '/credits/grant', { user_id, amount: 1, reason: 'test' })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

const api = (by: Customer, request: string, body?: Json) => call(fixture.gateway, by, request, body)

/** One more connection of the organization, whose provider has these models. */
async function connected(names: string[], fields: Json = {}): Promise<string> {
  const id = idIn(await organization.connection({ billing_mode: 'member_pays', ...fields }))
  await found(id, names)
  return id
}

async function found(id: string, names: string[]): Promise<void> {
  fixture.upstream.answer = () =>
    Response.json({ object: 'list', data: names.map((name) => ({ id: name })) })
  await api(organization.owner, `POST /connections/${id}/test`)
  fixture.reset()
}

const priceBy = (by: Customer, id: string, fields: Json) =>
  api(by, `PUT /connections/${id}/models/pricing`, fields)

const price = (id: string, model: string, pricing: unknown) =>
  priceBy(organization.owner, id, { model, pricing })

const chat = (by: Customer, model: string) =>
  sendRequest(fixture.gateway, { key: by.key, body: { model, messages, max_tokens: 10 } })

const costOf = async (by: Customer, model: string) =>
  (await chat(by, model)).headers.get('x-tollgate-cost')

describe('models and prices of a connection', () => {
  test('is visible to all permitted accounts, by id and in pages', async () => {
    const id = await connected(['b', 'a:1/x', 'one'])
    await price(id, 'fake/b', usual)
    const viewer = await organization.member('viewer')
    const nothing = { cached_input: null, cache_write: null, reasoning: null, image: null }
    const whole = {
      ...nothing,
      ...usual,
      cached_audio_input: null,
      cache_write_1h: null,
      audio_input: null,
      audio_output: null,
      image_input: null,
      image_output: null,
      input_characters: null,
      output_characters: null,
      second: null,
      request: null,
      search: null,
      audio_hour: null,
      made_image: null,
      made_megapixel: null,
      tiers: [],
      currency: 'USD',
    }
    const unlimited = { is_limited: false }
    const models = [
      { id: 'fake/a:1/x', name: 'a:1/x', in_catalogue: false, pricing: null, ...unlimited },
      { id: 'fake/b', name: 'b', in_catalogue: false, pricing: whole, ...unlimited },
      { id: 'fake/one', name: 'One', in_catalogue: true, pricing: whole, ...unlimited },
    ]
    for (const by of [organization.owner, member, viewer]) {
      const { status, body } = await api(by, `GET /connections/${id}/models`)
      expect([status, body['models']]).toEqual([200, models])
    }
    const first = await api(member, `GET /connections/${id}/models?limit=2`)
    const { next_cursor: cursor, total } = Object(first.body['pagination'])
    expect([first.body['models'], total]).toEqual([models.slice(0, 2), 3])
    const next = await api(member, `GET /connections/${id}/models?limit=2&cursor=${cursor}`)
    expect(next.body['models']).toEqual(models.slice(2))
    const stranger = await fixture.newCustomer()
    expect((await api(stranger, `GET /connections/${id}/models`)).status).toBe(404)
    await api(organization.owner, `DELETE /connections/${id}`)
  })
})

describe('a price', () => {
  test('is seen before it is paid, and paid as it was seen', async () => {
    const id = await connected(['seen'])
    expect((await api(member, 'GET /models/fake/seen')).body).toMatchObject({
      is_free: true,
      billing_mode: 'free',
      pricing: { input: 0, output: 0 },
    })
    await price(id, 'fake/seen', usual)
    expect((await api(member, 'GET /models/fake/seen')).body).toMatchObject({
      is_free: false,
      billing_mode: 'member_pays',
      pricing: usual,
    })
    const estimate = await api(member, 'POST /user/quota/estimate-cost', {
      model: 'fake/seen',
      input_tokens: 5,
      output_tokens: 3,
    })
    expect(estimate.text).toContain('0.000017')
    expect(await costOf(member, 'fake/seen')).toBe('0.000017')
    await price(id, 'fake/seen', null)
    expect(await costOf(member, 'fake/seen')).toBe('0')
    await api(organization.owner, `DELETE /connections/${id}`)
  })

  test('applies to the connection that it is set for and that serves', async () => {
    const cheap = await connected(['both'], { priority: 1, is_default: true })
    const dear = await connected(['both'], { priority: 2 })
    await price(cheap, 'fake/both', usual)
    await price(dear, 'fake/both', { input: 10, output: 40 })
    expect(await costOf(member, 'fake/both')).toBe('0.000017')
    await api(organization.owner, `PUT /connections/${dear}`, { is_default: true })
    expect(await costOf(member, 'fake/both')).toBe('0.00017')
    // The dear one is busy, and the other one answers: at its own price.
    const answers = [new Response('Busy.', { status: 429 }), completion()]
    fixture.upstream.answer = () => answers.shift() ?? completion()
    expect(await costOf(member, 'fake/both')).toBe('0.000017')
    expect(answers).toEqual([])
    for (const id of [cheap, dear]) await api(organization.owner, `DELETE /connections/${id}`)
  })

  test('is recorded with its previous value', async () => {
    const id = await connected(['told'])
    await price(id, 'fake/told', { ...usual, reasoning: 5 })
    await price(id, 'fake/told', { input: 1, output: 4.5, reasoning: 5 })
    await price(id, 'fake/told', { input: 1, output: 4.5, reasoning: 5 })
    await price(id, 'fake/told', null)
    const { path, owner } = organization
    const { body } = await api(owner, `GET ${path}/audit-trail?action=price&object_id=${id}`)
    expect(body['changes']).toMatchObject([
      { action: 'price.removed', before: { input: 1, output: 4.5, reasoning: 5 }, after: null },
      { action: 'price.set', before: { output: 4 }, after: { output: 4.5 } },
      { action: 'price.set', object_name: 'fake/told', before: null, after: { input: 1 } },
    ])
    await api(owner, `DELETE /connections/${id}`)
  })

  test('stays where its model is gone for a while', async () => {
    const id = await connected(['shy'])
    await price(id, 'fake/shy', usual)
    await found(id, ['other'])
    expect((await chat(member, 'fake/shy')).status).toBe(404)
    expect((await price(id, 'fake/shy', { input: 2, output: 8 })).status).toBe(200)
    await found(id, ['shy'])
    expect(await costOf(member, 'fake/shy')).toBe('0.000034')
    await api(organization.owner, `DELETE /connections/${id}`)
  })

  test('is set with permission for the connection, for models of that connection only', async () => {
    const id = await connected(['mine'])
    const mine = { model: 'fake/mine', pricing: usual }
    for (const role of ['member', 'developer', 'viewer']) {
      const { status } = await priceBy(await organization.member(role), id, mine)
      expect([role, status]).toEqual([role, 403])
    }
    expect((await priceBy(await fixture.newCustomer(), id, mine)).status).toBe(404)
    const wrong: [string, unknown, unknown[]][] = [
      ['fake/one', usual, [400, 'model', 'not_allowed']],
      ['fake/nobody', usual, [400, 'model', 'unknown_value']],
      ['other/mine', usual, [400, 'model', 'unknown_value']],
      ['fake/mine', undefined, [400, 'pricing', 'required']],
      ['fake/mine', { input: 0, output: 4 }, [400, 'pricing', 'out_of_range']],
      ['fake/mine', { input: 1, output: 0 }, [400, 'pricing', 'out_of_range']],
      ['fake/mine', { input: 1 }, [400, 'pricing.output', 'required']],
      ['fake/mine', { input: -1, output: 1 }, [400, 'pricing.input', 'out_of_range']],
      ['fake/mine', { ...usual, input: 1e-10 }, [400, 'pricing.input', 'out_of_range']],
      ['fake/mine', { ...usual, request: 1 }, [400, 'pricing.request', 'not_allowed']],
      ['fake/mine', { ...usual, image: 0.1 }, [400, 'pricing.image', 'not_allowed']],
      ['fake/mine', { ...usual, second: 0.1 }, [400, 'pricing.second', 'not_allowed']],
      [
        'fake/mine',
        { ...usual, input_characters: 1 },
        [400, 'pricing.input_characters', 'not_allowed'],
      ],
    ]
    for (const [model, pricing, expected] of wrong) {
      const answer = await price(id, model, pricing)
      expect([model, pricing, problem(answer)]).toEqual([model, pricing, expected])
    }
    expect(await costOf(member, 'fake/mine')).toBe('0')
    await api(organization.owner, `DELETE /connections/${id}`)
  })
})
