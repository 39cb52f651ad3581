import { expect, test } from 'bun:test'
import { FetchSlots } from './fetch-slots'
import { imageLimits, type ImagePorts } from './image-fetch'
import { findRemoteImages } from './remote-images'
import { sampleModel, sampleProvider } from '../../testing/catalog/samples'
import { LocalAnswer } from '../upstream/http/answer'
import type { OwnedCall } from '../upstream/http/egress'
import { ApiError } from '../errors'
import type { Provider } from '../providers/provider'
import { sampleCandidate } from '../../testing/routing/candidate'
import { CallerChat } from '../wire/chat-request'
import { settled } from '../../testing/clock'

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
const data = `data:image/png;base64,${png.toString('base64')}`
const image = (url: string) => ({ type: 'image_url', image_url: { url } })

interface FixtureOptions {
  answer?: (call: OwnedCall) => Response | Promise<Response>
  limits?: Partial<ImagePorts['limits']>
}

/** A chat request with images, their fetcher, and the URLs that it fetches for each dialect. */
function createFixture(
  urls: string[],
  { answer = () => new Response(png), limits }: FixtureOptions = {},
) {
  const body = {
    model: 'fake/one',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...urls.map(image)] },
    ],
  }
  const params = CallerChat.parse(body)
  const images = findRemoteImages({ params })
  const fetched: string[] = []
  const ports: ImagePorts = {
    transport: {
      async send(call) {
        fetched.push(call.url)
        return new LocalAnswer(await answer(call))
      },
    },
    slots: new FetchSlots({ max: 10, maxPerOwner: 10 }),
    limits: { ...imageLimits, ...limits },
  }
  const within = new AbortController()
  const fetchFor = async (dialect: Provider['dialect']) => {
    const model = sampleModel()
    const candidate = sampleCandidate({ model, provider: sampleProvider({ dialect }) })
    const principal = { accountId: 'user_1' }
    const request = { ports: { images: ports }, principal, params }
    await images?.fetchFor({ request, body, model, candidate }, within.signal)
  }
  const refusal = async (dialect: Provider['dialect'] = 'bedrock') => {
    const thrown: unknown = await fetchFor(dialect).catch((error: unknown) => error)
    if (!(thrown instanceof ApiError)) throw thrown
    const { status, code, param, details } = thrown
    return [status, code, param, details['issue']]
  }
  return { images, fetched, fetchFor, refusal, within }
}

test('a request without addresses wants nothing', () => {
  expect(createFixture([]).images).toBeUndefined()
  expect(createFixture([data]).images).toBeUndefined()
})

test.each(['openai', 'anthropic', 'cohere'] as const)('%s fetches by itself', async (dialect) => {
  const { images, fetched, fetchFor } = createFixture(['https://one.example/a.png'])
  await fetchFor(dialect)
  expect([fetched, images?.media.size]).toEqual([[], 0])
})

test('each address is fetched once, for a second candidate and a second place too', async () => {
  const [a, b] = ['https://one.example/a.png', 'https://one.example/b.png']
  const { images, fetched, fetchFor } = createFixture([a, b, a, data])
  await fetchFor('bedrock')
  await fetchFor('google')
  expect(fetched.toSorted()).toEqual([a, b])
  const media = { mimeType: 'image/png', base64: png.toString('base64') }
  expect(Object.fromEntries(images?.media ?? [])).toEqual({ [a]: media, [b]: media })
})

test('a second candidate that reads fewer addresses itself receives the rest', async () => {
  const video = 'https://www.youtube.com/watch?v=1'
  const { fetched, fetchFor } = createFixture(['https://one.example/a.png', video])
  await fetchFor('google')
  expect(fetched).toEqual(['https://one.example/a.png'])
  await fetchFor('bedrock')
  expect(fetched).toEqual(['https://one.example/a.png', video])
})

test('a failure names the field, and ends the other fetches', async () => {
  let ended = false
  const { fetched, refusal } = createFixture(
    ['https://one.example/slow', 'https://one.example/gone'],
    {
      answer: ({ url, signal }) => {
        if (!url.endsWith('slow')) return new Response(null, { status: 410 })
        const { promise, reject } = Promise.withResolvers<Response>()
        const handleEvent = () => {
          ended = true
          reject(signal.reason)
        }
        signal.addEventListener('abort', { handleEvent })
        return promise
      },
    },
  )
  const param = 'messages.1.content.2.image_url.url'
  expect(await refusal()).toEqual([400, 'invalid_request', param, 'bad_format'])
  expect([fetched.length, ended]).toEqual([2, true])
})

test('more than so many addresses are rejected before one is fetched', async () => {
  const urls = Array.from({ length: 3 }, (_, k) => `https://one.example/${k}.png`)
  const { fetched, refusal } = createFixture(urls, { limits: { maxImages: 2 } })
  const param = 'messages.1.content.3.image_url.url'
  expect(await refusal()).toEqual([400, 'invalid_request', param, 'too_many'])
  expect(fetched).toEqual([])
})

test('only a few are fetched at once', async () => {
  const urls = Array.from({ length: 6 }, (_, k) => `https://one.example/${k}.png`)
  let running = 0
  let max = 0
  const { images, fetchFor } = createFixture(urls, {
    limits: { maxConcurrent: 2 },
    answer: async () => {
      running += 1
      max = Math.max(max, running)
      await settled()
      running -= 1
      return new Response(png)
    },
  })
  await fetchFor('bedrock')
  expect([max, images?.media.size]).toEqual([2, 6])
})

test('all images of a request share one limit of bytes', async () => {
  const urls = Array.from({ length: 3 }, (_, k) => `https://one.example/${k}.png`)
  const limits = { maxConcurrent: 1, maxTotalBytes: 2 * png.length }
  const { fetched, refusal } = createFixture(urls, { limits })
  const param = 'messages.1.content.3.image_url.url'
  expect(await refusal()).toEqual([400, 'invalid_request', param, 'too_many'])
  expect(fetched).toHaveLength(3)
})

const never = ({ signal }: OwnedCall) => {
  const { promise, reject } = Promise.withResolvers<Response>()
  if (signal.aborted) reject(signal.reason)
  signal.addEventListener('abort', { handleEvent: () => reject(signal.reason) })
  return promise
}

test('a fetch that times out is reported as an invalid field', async () => {
  const { refusal } = createFixture(['https://one.example/a.png'], {
    answer: never,
    limits: { timeoutMs: 20 },
  })
  const param = 'messages.1.content.1.image_url.url'
  expect(await refusal()).toEqual([400, 'invalid_request', param, 'bad_format'])
})

test('rejects with the reason of the request once that has ended', async () => {
  const { fetchFor, within } = createFixture(['https://one.example/a.png'], { answer: never })
  const fetching = fetchFor('bedrock').catch((error: unknown) => error)
  const reason = new ApiError('request_timeout')
  within.abort(reason)
  expect(await fetching).toBe(reason)
})
