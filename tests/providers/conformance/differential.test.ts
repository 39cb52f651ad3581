import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { hasFixtures, readRecording, recordingNames } from '../../harness/fixtures'
import { replayer, replays } from './replay'
import {
  choicesOf,
  errorOf,
  hello,
  isJson,
  jsonOf,
  createFixture,
  textOf,
  type Json,
  type Fixture,
} from './fixture'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

if (!hasFixtures) console.log('The folder of fixtures is absent: whole recordings are skipped.')

/** What one choice of a stream amounts to. */
interface ChoiceOutput {
  text: string
  reasoning: string
  refusal: string
  calls: { id: unknown; name: unknown; args: string }[]
  finish: unknown
}

const words = (value: unknown) => (typeof value === 'string' ? value : '')

function addCall(calls: ChoiceOutput['calls'], delta: Json): void {
  // Mistral numbers no calls: each entry is a whole one.
  const index = typeof delta['index'] === 'number' ? delta['index'] : calls.length
  const { name, arguments: args } = jsonOf(delta['function'])
  const call = (calls[index] ??= { id: delta['id'], name, args: '' })
  call.args += words(args)
}

/** The choices that chunks add up to. */
function collected(chunks: readonly Json[]): ChoiceOutput[] {
  const choices: ChoiceOutput[] = []
  for (const choice of chunks.flatMap(choicesOf)) {
    const fresh = { text: '', reasoning: '', refusal: '', calls: [], finish: null }
    const collectedChoice = (choices[Number(choice['index'])] ??= fresh)
    const delta = jsonOf(choice['delta'])
    collectedChoice.text += textOf(choice)
    collectedChoice.reasoning += words(delta['reasoning_content'] ?? delta['reasoning'])
    collectedChoice.refusal += words(delta['refusal'])
    const calls = delta['tool_calls']
    for (const call of Array.isArray(calls) ? calls.filter(isJson) : [])
      addCall(collectedChoice.calls, call)
    if (typeof choice['finish_reason'] === 'string')
      collectedChoice.finish = choice['finish_reason']
  }
  return choices
}

const usageOf = (chunks: readonly Json[]) => {
  const blocks = chunks.flatMap((chunk) => (isJson(chunk['usage']) ? [chunk['usage']] : []))
  const { prompt_tokens, completion_tokens } = blocks.at(-1) ?? {}
  return { prompt_tokens, completion_tokens }
}

const chunksIn = (body: Buffer): Json[] =>
  body
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => jsonOf(JSON.parse(line.slice('data: '.length))))

describe.each(replays().map((replay) => [replay.name, replay] as const))(
  'F09: %s',
  (_name, replay) => {
    test('is the same through the gateway as directly', async () => {
      const seen = await (await replayer(fixture, replay))()
      const ours = seen.events.map(jsonOf)
      const direct = chunksIn(replay.body)
      expect(collected(ours)).toEqual(collected(direct))
      if (direct.some((chunk) => isJson(chunk['usage'])))
        expect(usageOf(ours)).toEqual(usageOf(direct))
    })
  },
)

const wholes = recordingNames().filter((name) => name.endsWith('.json'))
const documented = new Set(['id', 'created', 'model', 'provider', 'usage'])

/** A whole answer without what is the gateway's to say. */
const comparable = (answer: Json) =>
  Object.fromEntries(Object.entries(answer).filter(([name]) => !documented.has(name)))

describe.skipIf(!hasFixtures)('whole answers', () => {
  test.each(wholes.filter((name) => /^openai-(text|completion)/.test(name)))(
    'F09: %s is the same but for its id, time, model and provider',
    async (name) => {
      const recorded = readRecording(name)
      const isLegacy = name.includes('completion')
      const category = isLegacy ? 'completion' : 'chat'
      const model = await fixture.model(name, { upstream_model: name, category })
      fixture.rig.upstream.serve(name, recorded)
      const path = isLegacy ? '/v1/completions' : '/v1/chat/completions'
      const params = isLegacy ? { prompt: 'a' } : { messages: hello }
      const answer = jsonOf(await (await fixture.post(path, { model, ...params })).json())
      const direct = jsonOf(JSON.parse(recorded.body.toString()))
      expect(comparable(answer)).toEqual(comparable(direct))
      expect(answer['usage']).toMatchObject(jsonOf(direct['usage']))
      expect(answer['model']).toBe(model)
      if (!isLegacy) expect(answer['provider']).toBe(direct['provider'] ?? 'fake')
    },
  )

  test('F09: a recorded embedding has the same numbers', async () => {
    const recorded = readRecording('openai-embedding.json')
    const direct = jsonOf(JSON.parse(recorded.body.toString()))
    const count = Array.isArray(direct['data']) ? direct['data'].length : 0
    const fields = { upstream_model: 'recorded', category: 'embedding' }
    const model = await fixture.model('recorded', { ...fields, pricing: { input: 1, output: 0 } })
    fixture.rig.upstream.serve('recorded', recorded)
    const input = Array.from({ length: count }, (_, index) => `text ${index}`)
    const response = await fixture.post('/v1/embeddings', { model, input })
    const answer = jsonOf(await response.json())
    expect(comparable(answer)).toEqual(comparable(direct))
  })

  test('a recorded lack of quota is the connection’s fault, not the caller’s', async () => {
    const recorded = readRecording('openai-error.1.json')
    const model = await fixture.model('no-quota', { upstream_model: 'no quota' })
    fixture.rig.upstream.serve('no quota', recorded)
    const response = await fixture.post('/v1/chat/completions', { model, messages: hello })
    expect(response.status).toBeOneOf([502, 503])
    expect(await errorOf(response)).toMatchObject({ code: 'provider_error' })
  })
})
