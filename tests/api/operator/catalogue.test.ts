import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { startRig, type Customer, type Gateway, type Rig } from '../../harness/server'

let rig: Rig
let gateway: Gateway
let customer: Customer

beforeAll(async () => {
  rig = await startRig()
  gateway = rig.gateway
  customer = await gateway.customer()
})
afterAll(async () => {
  gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const provider = (key: string, fields: object = {}) => ({
  key,
  name: key,
  adapter: 'openai',
  base_url: rig.upstream.url,
  keyless: true,
  ...fields,
})

const idOf = async (request: string, body: object) => {
  const made = await sendOperatorRequest(gateway, request, body)
  expect([made.status, made.error]).toEqual([201, undefined])
  return String(made.body['id'])
}

async function chat(model: string): Promise<number> {
  const response = await gateway.recorder.fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
  })
  await response.text()
  return response.status
}

async function listed(id: string): Promise<boolean> {
  const response = await gateway.recorder.fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${customer.key}` },
  })
  return (await response.text()).includes(`"id":"${id}"`)
}

describe('providers', () => {
  test('are made, read, changed and deleted', async () => {
    const id = await idOf(
      'POST /providers',
      provider('mine', { base_url: 'http://127.0.0.1:1/v1/' }),
    )
    const { body } = await sendOperatorRequest(gateway, `GET /providers/${id}`)
    expect(body).toMatchObject({
      id,
      key: 'mine',
      adapter: 'openai',
      base_url: 'http://127.0.0.1:1/v1',
      auth: 'authorization',
      enabled: true,
    })
    const changed = await sendOperatorRequest(gateway, `PUT /providers/${id}`, {
      name: 'New',
      base_url: null,
    })
    expect(changed.body).toMatchObject({ key: 'mine', name: 'New', base_url: null })
    expect((await sendOperatorRequest(gateway, `DELETE /providers/${id}`)).body).toMatchObject({
      success: true,
    })
    expect((await sendOperatorRequest(gateway, `GET /providers/${id}`)).status).toBe(404)
    expect((await sendOperatorRequest(gateway, `DELETE /providers/${id}`)).status).toBe(404)
  })

  test.each([
    [{ key: undefined }, 'key', 'required'],
    [{ key: 'Upper' }, 'key', 'bad_format'],
    [{ key: 'a/b' }, 'key', 'bad_format'],
    [{ key: 'openai' }, 'key', 'taken'],
    [{ key: 'fake' }, 'key', 'taken'],
    [{ key: 'collection' }, 'key', 'reserved'],
    [{ adapter: 'telepathy' }, 'adapter', 'unknown_value'],
    [{ adapter: 'sandbox' }, 'adapter', 'unknown_value'],
    [{ base_url: 'ftp://x' }, 'base_url', 'bad_format'],
    [{ auth: 'a b' }, 'auth', 'bad_format'],
    [{ website: 'http://plain.example' }, 'website', 'bad_format'],
    [{ name: '' }, 'name', 'too_short'],
  ])('%j is rejected at %s: %s', async (fields, param, issue) => {
    const refused = await sendOperatorRequest(gateway, 'POST /providers', provider('other', fields))
    expect(problem(refused)).toEqual([400, param, issue])
  })

  test('one with a model or a connection stays', async () => {
    const id = await idOf('POST /providers', provider('kept'))
    const model = { id: 'kept/one', name: 'One', category: 'chat', is_free: true }
    await idOf('POST /models', model)
    expect(problem(await sendOperatorRequest(gateway, `DELETE /providers/${id}`))).toEqual([
      400,
      null,
      'wrong_state',
    ])
    await sendOperatorRequest(gateway, 'DELETE /models/kept/one')
    const connection = await idOf('POST /connections', { name: 'x', provider: 'kept' })
    expect(problem(await sendOperatorRequest(gateway, `DELETE /providers/${id}`))).toEqual([
      400,
      null,
      'wrong_state',
    ])
    await sendOperatorRequest(gateway, `DELETE /connections/${connection}`)
    expect((await sendOperatorRequest(gateway, `DELETE /providers/${id}`)).status).toBe(200)
  })

  test('L06: switched off, its models are gone at once, and back at once', async () => {
    const id = await idOf('POST /providers', provider('switch'))
    await idOf('POST /connections', { name: 'x', provider: 'switch' })
    await idOf('POST /models', { id: 'switch/ok', name: 'Ok', category: 'chat', is_free: true })
    expect(await listed('switch/ok')).toBe(true)
    await sendOperatorRequest(gateway, `PUT /providers/${id}`, { enabled: false })
    expect(await listed('switch/ok')).toBe(false)
    expect(await chat('switch/ok')).toBe(404)
    await sendOperatorRequest(gateway, `PUT /providers/${id}`, { enabled: true })
    expect(await listed('switch/ok')).toBe(true)
  })
})

describe('models', () => {
  test('a price, or that it is free, is needed to enable one', async () => {
    const model = { id: 'fake/priceless', name: 'Priceless', category: 'chat' }
    expect(problem(await sendOperatorRequest(gateway, 'POST /models', model))).toEqual([
      400,
      'pricing',
      'required',
    ])
    await idOf('POST /models', { ...model, enabled: false })
    expect(await listed('fake/priceless')).toBe(false)
    expect(await chat('fake/priceless')).toBe(404)
    const path = 'PUT /models/fake/priceless'
    expect(problem(await sendOperatorRequest(gateway, path, { enabled: true }))).toEqual([
      400,
      'pricing',
      'required',
    ])
    const pricing = { input: 0.000000001, output: 1_000_000 }
    const enabled = await sendOperatorRequest(gateway, path, { enabled: true, pricing })
    expect(enabled.body).toMatchObject({ enabled: true, pricing })
    expect(await listed('fake/priceless')).toBe(true)
    expect(problem(await sendOperatorRequest(gateway, path, { pricing: null }))).toEqual([
      400,
      'pricing',
      'required',
    ])
    expect((await sendOperatorRequest(gateway, 'DELETE /models/fake%2Fpriceless')).status).toBe(200)
    expect(await listed('fake/priceless')).toBe(false)
  })

  test('M37: a price of zero is rejected, unless the model is free', async () => {
    const model = { id: 'fake/zero', name: 'Zero', category: 'chat' }
    for (const pricing of [
      { input: 0, output: 0 },
      { input: 0, output: 1 },
      { input: 1, output: 0 },
    ]) {
      const refused = await sendOperatorRequest(gateway, 'POST /models', { ...model, pricing })
      expect(problem(refused)).toEqual([400, 'pricing', 'required'])
    }
    const pricing = { input: 0, output: 0 }
    await idOf('POST /models', { ...model, pricing, is_free: true })
    const paid = await sendOperatorRequest(gateway, 'PUT /models/fake/zero', { is_free: false })
    expect(problem(paid)).toEqual([400, 'pricing', 'required'])
    const perRequest = { is_free: false, pricing: { ...pricing, request: 0.01 } }
    expect((await sendOperatorRequest(gateway, 'PUT /models/fake/zero', perRequest)).status).toBe(
      200,
    )
    expect((await sendOperatorRequest(gateway, 'DELETE /models/fake/zero')).status).toBe(200)
  })

  test('finding D9: a prompt is at most as long as its context', async () => {
    const model = { id: 'fake/long', name: 'Long', category: 'chat', is_free: true }
    const lengths = { context_length: 1000, max_input_tokens: 1001 }
    const refused = [400, 'max_input_tokens', 'out_of_range']
    const added = await sendOperatorRequest(gateway, 'POST /models', { ...model, ...lengths })
    expect(problem(added)).toEqual(refused)
    await idOf('POST /models', { ...model, ...lengths, max_input_tokens: 1000 })
    const change = (fields: object) => sendOperatorRequest(gateway, 'PUT /models/fake/long', fields)
    expect(problem(await change({ max_input_tokens: 1001 }))).toEqual(refused)
    expect(problem(await change({ ...lengths, context_length: 500 }))).toEqual(refused)
    // A shorter context shortens the prompt, too.
    const shorter = await change({ context_length: 500 })
    expect(shorter.body).toMatchObject({ context_length: 500, max_input_tokens: 500 })
    const unknown = await change({ context_length: null, max_input_tokens: 2000 })
    expect(unknown.body).toMatchObject({ context_length: null, max_input_tokens: 2000 })
  })

  const sound = { id: 'fake/m', name: 'M', category: 'chat', is_free: true }
  test.each([
    [{ id: 'no-slash' }, 'model', undefined],
    [{ id: 'nobody/x' }, 'id', 'unknown_value'],
    [{ id: 'sandbox/echo' }, 'id', 'taken'],
    [{ name: undefined }, 'name', 'required'],
    [{ category: 'music' }, 'category', 'unknown_value'],
    [{ context_length: 0 }, 'context_length', 'out_of_range'],
    [{ pricing: { input: 1 } }, 'pricing.output', 'required'],
    [{ pricing: { input: -1, output: 1 } }, 'pricing.input', 'out_of_range'],
    [{ pricing: { input: 0.0000000001, output: 1 } }, 'pricing.input', 'out_of_range'],
    [{ pricing: { input: '1', output: 1 } }, 'pricing.input', 'wrong_type'],
    [{ capabilities: { flying: true } }, 'capabilities', 'wrong_type'],
  ])('%j is rejected at %s: %p', async (fields, param, issue) => {
    const refused = await sendOperatorRequest(gateway, 'POST /models', { ...sound, ...fields })
    if (issue) expect(problem(refused)).toEqual([400, param, issue])
    else expect([refused.status, refused.error?.code]).toEqual([400, 'invalid_model'])
  })

  test('a bundled model is changed, and restored by deleting the change', async () => {
    const before = await sendOperatorRequest(gateway, 'GET /models/sandbox/lorem')
    const changed = await sendOperatorRequest(gateway, 'PUT /models/sandbox/lorem', {
      enabled: false,
    })
    expect(changed.body).toMatchObject({ enabled: false, name: before.body['name'] })
    expect(await chat('sandbox/lorem')).toBe(404)
    expect((await sendOperatorRequest(gateway, 'DELETE /models/sandbox/lorem')).status).toBe(200)
    expect((await sendOperatorRequest(gateway, 'GET /models/sandbox/lorem')).body).toEqual(
      before.body,
    )
    expect(await chat('sandbox/lorem')).toBe(200)
    const again = await sendOperatorRequest(gateway, 'DELETE /models/sandbox/lorem')
    expect(problem(again)).toEqual([400, null, 'wrong_state'])
  })

  test.each(['fake/none', 'none', '%F0%9F%92%A9/x', "x'/or/1=1"])(
    'A10: %s is not a model',
    async (id) => {
      for (const request of [`GET /models/${id}`, `DELETE /models/${id}`]) {
        const { status, error } = await sendOperatorRequest(gateway, request)
        expect([status, error?.code]).toEqual([404, 'model_not_found'])
      }
      const changed = await sendOperatorRequest(gateway, `PUT /models/${id}`, { name: 'x' })
      expect(changed.error?.code).toBe('model_not_found')
    },
  )

  test('A03: its provider and whether it is simulated come from its id alone', async () => {
    const { body } = await sendOperatorRequest(gateway, 'POST /models', {
      ...sound,
      id: 'fake/plain',
      provider: 'openai',
      simulated: true,
    })
    expect(body).toMatchObject({ provider: 'fake', simulated: false })
  })
})
