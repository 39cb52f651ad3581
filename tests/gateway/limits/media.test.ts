import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { mp3, wav, webm } from '../../../server/testing/sound-files'
import { sendRaw, sendRequest, type Answer, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

const [maxImages, maxSeconds] = [10, 60]

let rig: Rig
let plan: unknown

beforeAll(async () => {
  rig = await startRig()
  const limits = { images_per_minute: maxImages, audio_seconds_per_minute: maxSeconds }
  plan = (await rig.gateway.admin('POST', '/plans', { name: 'media', ...limits }))['id']
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const newCustomer = () => rig.gateway.customer({}, { plan_id: plan })

const imagesPath = '/v1/images/generations'

const toBody = async (name: string, fields: Json): Promise<Json> => ({
  model: await rig.model(`${name}~image`, {
    category: 'image',
    max_output_tokens: null,
    upstream_model: name,
    pricing: { input: 0, output: 0, made_image: 0.001 },
  }),
  prompt: 'A lighthouse',
  ...fields,
})

const draw = async ({ key }: Customer, name = 'ok', fields: Json = {}) =>
  sendRequest(rig.gateway, { path: imagesPath, key, body: await toBody(name, fields) })

const transcribe = async (
  { key }: Customer,
  content: Buffer,
  { name = 'hear-uncounted', endpoint = 'transcriptions' } = {},
) =>
  sendRequest(rig.gateway, {
    path: `/v1/audio/${endpoint}`,
    key,
    form: {
      model: await rig.model(`${name}~sound`, {
        category: 'transcription',
        upstream_model: name,
        pricing: { input: 0, output: 0, audio_hour: 0.36 },
      }),
      file: new File([content], 'talk.bin'),
    },
  })

/** Speaks so many words: the sandbox hums a tone for each character. */
const speak = ({ key }: Customer, input: string) =>
  sendRequest(rig.gateway, {
    path: '/v1/audio/speech',
    key,
    body: { model: 'sandbox/speech', input, response_format: 'wav' },
  })

const codeOf = ({ status, error }: Answer) => [status, error.code]

/** What counts now, by the state of the account. */
async function used({ key }: Customer): Promise<{ images: number; seconds: number }> {
  const path = '/api/user/quota/status'
  const { body } = await sendRequest(rig.gateway, { path, method: 'GET', key })
  const quotas: { type: string; used: number }[] = Array.isArray(body['quotas'])
    ? body['quotas']
    : []
  const usedOf = (type: string) => quotas.find((quota) => quota.type === type)?.used ?? NaN
  return { images: usedOf('images_per_minute'), seconds: usedOf('audio_seconds_per_minute') }
}

describe('images per minute', () => {
  test('count the images that were made; the next request is rejected at the limit', async () => {
    const customer = await newCustomer()
    const firstSentAt = Date.now()
    expect((await draw(customer, 'ok', { n: 8 })).status).toBe(200)
    const refused = await draw(customer, 'ok', { n: 3 })
    const answeredAt = Date.now()
    expect(codeOf(refused)).toEqual([429, 'images_per_minute_exceeded'])
    expect(refused.error).toMatchObject({
      type: 'rate_limit_error',
      details: { limit: maxImages, used: 8 },
    })
    const waitMs = Number(refused.headers.get('retry-after-ms'))
    expect(waitMs).toBeWithin(firstSentAt + 60_000 - answeredAt - 2, 60_001)
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
    expect(refused.headers.get('x-ratelimit-limit')).toBe(String(maxImages))
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('2')
    expect(refused.headers.get('x-should-retry')).toBeNull()
    expect((await draw(customer, 'ok', { n: 2 })).status).toBe(200)
    expect(codeOf(await draw(customer))).toEqual([429, 'images_per_minute_exceeded'])
  })

  test('images that were not made are given back', async () => {
    const customer = await newCustomer()
    expect((await draw(customer, 'draw-fewer', { n: 8 })).status).toBe(200)
    expect((await used(customer)).images).toBe(1)
    expect((await draw(customer, 'ok', { n: 9 })).status).toBe(200)
    expect((await used(customer)).images).toBe(maxImages)
  })

  test.each(['status-500', 'status-400', 'status-503', 'draw-none'])(
    'nothing is counted for %s',
    async (name) => {
      const customer = await newCustomer()
      expect((await draw(customer, name, { n: 4 })).status).toBeGreaterThanOrEqual(400)
      expect((await used(customer)).images).toBe(0)
    },
  )

  test('a stream counts its image, and holds its reservation while it runs', async () => {
    const customer = await newCustomer()
    expect((await draw(customer, 'ok', { stream: true })).status).toBe(200)
    expect((await used(customer)).images).toBe(1)
    const body = await toBody('draw-held', { stream: true, n: 5 })
    const client = await sendRaw(rig.gateway, { path: imagesPath, key: customer.key, body })
    await eventually(() => rig.upstream.heldCount() === 1)
    expect((await used(customer)).images).toBe(6)
    expect(codeOf(await draw(customer, 'ok', { n: 5 }))).toEqual([
      429,
      'images_per_minute_exceeded',
    ])
    // The provider bills what its client does not wait for.
    client.close()
    expect((await used(customer)).images).toBe(6)
    rig.upstream.release()
  })

  test('a request for more images than the limit is never retried', async () => {
    const customer = await rig.gateway.customer({}, { limits: { images_per_minute: 2 } })
    const refused = await draw(customer, 'ok', { n: 3 })
    expect(refused.error.details).toEqual({ limit: 2, used: 0 })
    expect(refused.headers.get('x-should-retry')).toBe('false')
  })

  test('the limit of a key is its own, within that of the account', async () => {
    const customer = await newCustomer()
    const { gateway } = rig
    const made = await gateway.admin('POST', `/users/${customer.userId}/keys`, {
      name: 'three',
      rate_limit_images_per_minute: 3,
    })
    const key = { ...customer, key: String(made['key']) }
    expect((await draw(key, 'ok', { n: 3 })).status).toBe(200)
    expect((await draw(key)).error.details).toEqual({ limit: 3, used: 3 })
    expect((await draw(customer, 'ok', { n: 7 })).status).toBe(200)
    expect((await draw(customer)).error.details).toEqual({ limit: maxImages, used: 10 })
  })

  test('variations and edits count; chats and sound do not', async () => {
    const customer = await newCustomer()
    const body = {
      model: 'sandbox/image',
      images: [{ image_url: 'data:image/png;base64,iVBORw0KGgo=' }],
      size: '256x256',
      n: 2,
    }
    const { key } = customer
    for (const [endpoint, fields] of [
      ['variations', {}],
      ['edits', { prompt: 'At dusk' }],
    ] as const) {
      const path = `/v1/images/${endpoint}`
      const answer = await sendRequest(rig.gateway, { path, key, body: { ...body, ...fields } })
      expect(answer.status).toBe(200)
    }
    expect(await used(customer)).toEqual({ images: 4, seconds: 0 })
  })
})

describe('audio seconds per minute', () => {
  test('the seconds of a file count, and a longer one is rejected before it is sent', async () => {
    const customer = await newCustomer()
    expect((await transcribe(customer, wav(40))).status).toBe(200)
    expect(await used(customer)).toEqual({ images: 0, seconds: 40 })
    const before = rig.upstream.requestCount()
    const refused = await transcribe(customer, wav(20.5))
    expect(codeOf(refused)).toEqual([429, 'audio_seconds_per_minute_exceeded'])
    expect(refused.error.details).toEqual({ limit: maxSeconds, used: 40 })
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('20')
    expect(Number(refused.headers.get('retry-after-ms'))).toBeWithin(1, 60_001)
    expect(rig.upstream.requestCount()).toBe(before)
    const options = { endpoint: 'translations' }
    expect((await transcribe(customer, wav(19.5), options)).status).toBe(200)
    expect((await used(customer)).seconds).toBe(60)
  })

  test('a file counts by its frames, and by its bytes where it has no length', async () => {
    const customer = await newCustomer()
    expect((await transcribe(customer, mp3(1000))).status).toBe(200)
    expect((await used(customer)).seconds).toBe(27)
    const bytes = webm().length
    expect((await transcribe(customer, webm())).status).toBe(200)
    expect((await used(customer)).seconds).toBe(27 + Math.ceil(bytes / 750))
  })

  test('the charged seconds count in the end: never more than the file has, none for a failure', async () => {
    const customer = await newCustomer()
    // The provider reports 900,000 seconds.
    expect((await transcribe(customer, wav(8), { name: 'hear-years' })).status).toBe(200)
    expect((await used(customer)).seconds).toBe(8)
    expect((await transcribe(customer, wav(9), { name: 'status-500' })).status).toBe(502)
    expect((await used(customer)).seconds).toBe(8)
  })

  test('a file that is longer than the limit is never retried', async () => {
    const refused = await transcribe(await newCustomer(), wav(61))
    expect(codeOf(refused)).toEqual([429, 'audio_seconds_per_minute_exceeded'])
    expect(refused.headers.get('x-should-retry')).toBe('false')
  })

  test('speech counts the sound that was made, and is rejected once the minute is used up', async () => {
    const customer = await newCustomer()
    const spoken = await speak(customer, 'Good morning to all of you.')
    expect(spoken.status).toBe(200)
    const { seconds } = await used(customer)
    expect(seconds).toBeWithin(1, maxSeconds)
    expect((await transcribe(customer, wav(maxSeconds - seconds))).status).toBe(200)
    const refused = await speak(customer, 'One more.')
    expect(codeOf(refused)).toEqual([429, 'audio_seconds_per_minute_exceeded'])
    expect(refused.error.details).toEqual({ limit: maxSeconds, used: maxSeconds })
  })
})
