import { readProjectRecordings, readRecording, recordingNames } from '../../harness/fixtures'
import { hello, isJson, jsonOf, type Json, type Fixture } from './fixture'

/** One recorded stream and the model that repeats it. */
export interface Replay {
  name: string
  body: Buffer
  path: '/v1/chat/completions' | '/v1/completions'
}

const toReplay = (name: string, body: Buffer): Replay => ({
  name,
  body,
  path: name.includes('completion') ? '/v1/completions' : '/v1/chat/completions',
})

/** Every stream in OpenAI's format: the project's own, and the recorded ones where they are. */
export const replays = (): Replay[] => [
  ...[...readProjectRecordings()].map(([name, body]) => toReplay(name, body)),
  ...recordingNames()
    .filter((name) => name.endsWith('.txt'))
    .map((name) => toReplay(name, readRecording(name).body)),
]

/** How a recording is written this time. */
export interface ReplayOptions {
  body?: string | Uint8Array
  cuts?: readonly number[]
}

/** What a caller sees of a stream: its events, without what differs from request to request. */
export interface ReplayedStream {
  status: number
  events: unknown[]
  isDone: boolean
  error: unknown
}

/**
 * How often a recording may be on its way at once. What is written goes by the model's name at the
 * provider, so that each has one of its own.
 */
const slots = 16

/** Makes a recording ready to be asked for; `slot` separates those asked for at the same time. */
export async function replayer(fixture: Fixture, { name, body, path }: Replay) {
  const isLegacy = path === '/v1/completions'
  const upstreamOf = (slot: number) => `replay ${name} ${slot % slots}`
  const models = await Promise.all(
    Array.from({ length: slots }, (_, slot) =>
      fixture.model(`replay-${slot}-${name}`, {
        upstream_model: upstreamOf(slot),
        category: isLegacy ? 'completion' : 'chat',
      }),
    ),
  )
  const headers = {
    authorization: `Bearer ${fixture.customer.key}`,
    'content-type': 'application/json',
  }
  const params = {
    ...(isLegacy ? { prompt: 'Go on.' } : { messages: hello }),
    stream: true,
    stream_options: { include_usage: true },
  }
  const { url, recorder } = fixture.rig.gateway
  return async (writing: ReplayOptions = {}, slot = 0): Promise<ReplayedStream> => {
    fixture.rig.upstream.serve(upstreamOf(slot), { body, ...writing })
    const response = await recorder.fetch(`${url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: models[slot % slots], ...params }),
    })
    return withoutModel(toReplayed(response.status, await response.text()))
  }
}

/** Does all of `writings`, some at a time, and says what was seen of each. */
export async function replayAll(
  replayed: (writing: ReplayOptions, slot: number) => Promise<ReplayedStream>,
  writings: readonly ReplayOptions[],
): Promise<ReplayedStream[]> {
  const seen: ReplayedStream[] = []
  const lane = async (slot: number) => {
    for (let at = slot; at < writings.length; at += slots) {
      seen[at] = await replayed(writings[at] ?? {}, slot)
    }
  }
  await Promise.all(Array.from({ length: slots }, (_, slot) => lane(slot)))
  return seen
}

/** The slots of a recording are models of different names. */
const withoutModel = (seen: ReplayedStream): ReplayedStream => ({
  ...seen,
  events: seen.events.map((event) => ({ ...jsonOf(event), model: 'the model' })),
})

function toReplayed(status: number, text: string): ReplayedStream {
  if (status !== 200) {
    return { status, events: [], isDone: false, error: jsonOf(JSON.parse(text))['error'] }
  }
  const data = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
  const chunks = data.filter((line) => line !== '[DONE]').map((line): Json => JSON.parse(line))
  const events = chunks.map(({ id: _id, created: _created, ...chunk }) => chunk)
  const error = chunks.find((chunk) => isJson(chunk['error']))?.['error']
  return { status, events, isDone: data.at(-1) === '[DONE]', error }
}

/** Where the events of a stream end, the last of all left out. */
export function boundaries(body: Buffer): number[] {
  const ends: number[] = []
  for (let at = body.indexOf('\n\n'); at >= 0; at = body.indexOf('\n\n', at + 2)) ends.push(at + 2)
  return ends.slice(0, -1)
}
