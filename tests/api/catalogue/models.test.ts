import { describe, expect, test } from 'bun:test'
import { useMarketFixture } from './market-fixture'
import { problem } from './requests'
import type { Customer } from '../../harness/server'

const { fixture, api, newCustomer, idsOf } = useMarketFixture()

/** A connection of the caller's own, which is never called here. */
const connect = (by: Customer, provider: string) =>
  api(by, 'POST /connections', {
    name: 'Mine',
    provider,
    api_key: 'sk-own-0123456789',
    endpoint_url: 'https://93.184.216.34',
  })

describe('GET /api/models', () => {
  test('shows a model whole', async () => {
    const answer = await api(fixture().reader, 'GET /models?provider=fake&search=zebra')
    expect(answer.body).toEqual({
      models: [
        {
          id: 'fake/one',
          name: 'Zebra',
          provider: 'fake',
          description: null,
          category: 'chat',
          context_length: 1000,
          max_input_tokens: null,
          max_output_tokens: null,
          capabilities: expect.objectContaining({ reasoning: true, vision: false }),
          pricing: {
            input: 1,
            output: 4,
            cached_input: null,
            cache_write: null,
            cached_audio_input: null,
            cache_write_1h: null,
            reasoning: null,
            audio_input: null,
            audio_output: null,
            image_input: null,
            image_output: null,
            input_characters: null,
            output_characters: null,
            second: null,
            audio_hour: null,
            image: null,
            request: null,
            search: null,
            made_image: null,
            made_megapixel: null,
            tiers: [],
            currency: 'USD',
          },
          is_free: false,
          billing_mode: 'platform',
          payer: 'personal',
          payer_name: null,
          unavailable: null,
          performance: null,
          is_favorite: false,
          rating: { average: null, count: 0 },
          deprecated_at: null,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
        },
      ],
      pagination: { total: 1, limit: 50, offset: 0, has_more: false, next_cursor: null },
    })
  })

  test.each([
    ['provider=fake', ['fake/gift', 'fake/one', 'fake/two/b:1', 'fake/vectors']],
    ['provider=nobody', []],
    ['provider=fake&category=embedding', ['fake/vectors']],
    ['provider=fake&capability=reasoning,streaming', ['fake/gift', 'fake/one', 'fake/two/b:1']],
    ['provider=fake&capability=vision', []],
    ['provider=fake&free=true', ['fake/gift']],
    ['provider=fake&free=false', ['fake/one', 'fake/two/b:1', 'fake/vectors']],
    ['search=B:1', ['fake/two/b:1']],
    ['search=zebr', ['fake/one']],
    ['provider=fake&billing_mode=free', ['fake/gift']],
    ['provider=fake&billing_mode=byok', []],
    ['provider=fake&min_context=1001', ['fake/two/b:1']],
    ['provider=fake&max_price=5', ['fake/gift', 'fake/one', 'fake/vectors']],
    ['max_price=0&min_context=1000&provider=fake', ['fake/gift']],
    ['provider=fake&sort=name', ['fake/two/b:1', 'fake/gift', 'fake/vectors', 'fake/one']],
    ['provider=fake&sort=price', ['fake/gift', 'fake/vectors', 'fake/one', 'fake/two/b:1']],
    ['provider=fake&sort=context', ['fake/two/b:1', 'fake/gift', 'fake/one', 'fake/vectors']],
  ])('%s lists %j', async (query, ids) => {
    expect(await idsOf(query)).toEqual(ids)
  })

  test('finding P1: by price goes by the length of a prompt', async () => {
    const path = '/models/fake/two/b:1/prices'
    const { prices } = await fixture().gateway.admin('GET', path)
    const [current] = Array.isArray(prices) ? prices : []
    const tiers = [{ above: 1000, input: 0, output: 0.001 }]
    await fixture().gateway.admin('PUT', path, { pricing: { ...current.pricing, tiers } })
    const sorted = 'provider=fake&sort=price'
    expect((await idsOf(sorted)).at(-1)).toBe('fake/two/b:1')
    expect((await idsOf(`${sorted}&prompt_tokens=1000`)).at(-1)).toBe('fake/two/b:1')
    expect((await idsOf(`${sorted}&prompt_tokens=1001`)).at(1)).toBe('fake/two/b:1')
    await fixture().gateway.admin('PUT', path, { pricing: current.pricing })
  })

  test('is paged by offset and by cursor', async () => {
    const query = 'provider=fake&sort=price&limit=3'
    expect(await idsOf(`${query}&offset=1`)).toEqual(['fake/vectors', 'fake/one', 'fake/two/b:1'])
    const first = await api(fixture().reader, `GET /models?${query}`)
    const pagination = { ...Object(first.body['pagination']) }
    expect(pagination).toMatchObject({ total: 4, limit: 3, has_more: true })
    const cursor = String(pagination.next_cursor)
    expect(await idsOf(`${query}&cursor=${cursor}`)).toEqual(['fake/two/b:1'])
    const elsewhere = await api(fixture().reader, `GET /models?provider=fake&cursor=${cursor}`)
    expect(problem(elsewhere)).toEqual([400, 'cursor', 'bad_format'])
  })

  test.each([
    ['category=sound', 'category', 'unknown_value'],
    ['capability=tools,flying', 'capability', 'unknown_value'],
    ['billing_mode=gift', 'billing_mode', 'unknown_value'],
    ['free=maybe', 'free', 'unknown_value'],
    ['sort=weight', 'sort', 'unknown_value'],
    ['min_context=-1', 'min_context', 'out_of_range'],
    ['max_price=much', 'max_price', 'wrong_type'],
    ['prompt_tokens=-1', 'prompt_tokens', 'out_of_range'],
    [`search=${'x'.repeat(101)}`, 'search', 'too_long'],
    ['limit=0', 'limit', 'out_of_range'],
    ['offset=10001', 'offset', 'out_of_range'],
  ])('%s is rejected at %s: %s', async (query, param, issue) => {
    expect(problem(await api(fixture().reader, `GET /models?${query}`))).toEqual([
      400,
      param,
      issue,
    ])
  })

  test('shows the payer of a call', async () => {
    const owner = await newCustomer()
    const modeOf = async (by: Customer, id: string) =>
      (await api(by, `GET /models/${id}`)).body['billing_mode']
    expect(await modeOf(owner, 'bare/alone')).toBeNull()
    const { body } = await api(owner, 'GET /models/bare/alone')
    expect(body['unavailable']).toEqual({
      reason: 'no_connection',
      message: expect.stringContaining('Bare'),
    })
    expect((await connect(owner, 'bare')).status).toBe(201)
    expect(await modeOf(owner, 'bare/alone')).toBe('byok')
    expect(await modeOf(fixture().reader, 'bare/alone')).toBeNull()
    expect(await idsOf('billing_mode=byok', owner)).toEqual(['bare/alone'])
    const mapping = { source_pattern: 'fake/*', target_model: 'bare/alone' }
    expect((await api(owner, 'POST /user/model-mappings', mapping)).status).toBe(201)
    expect(await modeOf(owner, 'fake/one')).toBe('byok')
    expect(await modeOf(fixture().reader, 'fake/one')).toBe('platform')
  })

  test('needs the permission to read', async () => {
    const writer = await fixture().gateway.customer({ permissions: ['write'] }, { credit: 0 })
    for (const path of ['/models', '/models/fake/one', '/favorites', '/ratings/my-ratings']) {
      expect((await api(writer, `GET ${path}`)).error.code).toBe('insufficient_permissions')
    }
  })
})

describe('GET /api/models/{modelId}', () => {
  test.each(['fake/two/b:1', 'fake%2Ftwo%2Fb%3A1', 'fake/two%2Fb:1/', 'fake/two/b:1?of=/ratings'])(
    'finds %s',
    async (path) => {
      const { status, body } = await api(fixture().reader, `GET /models/${path}`)
      expect([status, body['id'], body['name']]).toEqual([200, 'fake/two/b:1', 'ant'])
    },
  )

  test.each([
    'fake/none',
    'fake/off',
    'nobody',
    'fake%252Fone',
    'fake/%ff',
    'collection/auto-free',
  ])('%s is not a model', async (path) => {
    const { status, error } = await api(fixture().reader, `GET /models/${path}`)
    expect([status, error.code]).toEqual([404, 'model_not_found'])
  })
})
