import { postOf, uploadOf } from '../load/load'
import type { Plan } from '../load/plan'
import type { Subject } from '../subjects/subject'
import { spokenCharacters } from '../upstream/answers'
import { asciiSound } from './sound'

/** One kind of load. */
export interface Scenario {
  name: string
  title: string
  /** The model of the fake provider that answers it. */
  model: string
  path: string
  body: object
  connections: number
  leaveEvery?: number
  /** Duration, where one answer takes longer than the default. */
  minSeconds?: number
  /** Streams that are open meanwhile, with a chunk a second each. */
  openStreams?: number
  /** A file of ASCII that is sent in a form, with the body's texts. */
  file?: string
  /** A peer that does not serve it is left out of it. */
  isOptional?: boolean
}

const chat = '/v1/chat/completions'
const messages = (characters: number) => [{ role: 'user', content: 'x'.repeat(characters) }]
const streamed = { stream: true, stream_options: { include_usage: true }, messages: messages(900) }
const weather = {
  name: 'get_weather',
  description: 'The weather of a city, now.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const plain = (connections: number): Scenario => ({
  name: `chat-${connections}`,
  title: `plain chat, 1 kB, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
  model: 'plain',
  path: chat,
  body: { messages: messages(900) },
  connections,
})

const stream = (gapMs: 0 | 10, connections: number): Scenario => ({
  name: `stream-${gapMs}-${connections}`,
  title: `streams of 100 chunks, ${gapMs} ms apart, ${connections} open`,
  model: `stream-${gapMs}`,
  path: chat,
  body: streamed,
  connections,
  minSeconds: 4,
})

/** A sequential client beside streams in which little happens. */
const beside = (openStreams: number): Scenario => ({
  ...plain(1),
  name: `chat-1-beside-${openStreams}`,
  title: `plain chat, 1 kB, 1 connection, beside ${openStreams} open ${openStreams === 1 ? 'stream' : 'streams'}`,
  openStreams,
})

export const scenarios: readonly Scenario[] = [
  plain(1),
  beside(1),
  beside(1000),
  plain(10),
  plain(64),
  {
    name: 'prompt-100k',
    title: 'plain chat, a prompt of 100 kB, 10 connections',
    model: 'long',
    path: chat,
    body: { messages: messages(100_000) },
    connections: 10,
  },
  stream(0, 200),
  stream(0, 1000),
  stream(10, 200),
  stream(10, 1000),
  {
    name: 'tools',
    title: 'streams of tool calls, 100 chunks, 64 open',
    model: 'tools',
    path: chat,
    body: { ...streamed, tools: [{ type: 'function', function: weather }] },
    connections: 64,
  },
  {
    name: 'embeddings',
    title: 'embeddings of 64 inputs, 512 dimensions, 10 connections',
    model: 'embed',
    path: '/v1/embeddings',
    body: {
      input: Array.from({ length: 64 }, (_, index) => `Sentence ${index} of a short list.`),
      encoding_format: 'base64',
    },
    connections: 10,
  },
  {
    name: 'aborts',
    title: 'streams of 100 chunks, 64 open, one in 20 left in its middle',
    model: 'stream-0',
    path: chat,
    body: streamed,
    connections: 64,
    leaveEvery: 20,
  },
  {
    name: 'image',
    title: 'images of 1 MB in base64, 10 connections',
    model: 'image',
    path: '/v1/images/generations',
    body: { prompt: 'x'.repeat(900), size: '1024x1024', quality: 'medium' },
    connections: 10,
    isOptional: true,
  },
  {
    name: 'speech',
    title: 'streamed speech of 160 kB, 10 connections',
    model: 'speech',
    path: '/v1/audio/speech',
    body: { input: 'x'.repeat(spokenCharacters), voice: 'alloy' },
    connections: 10,
    isOptional: true,
  },
  {
    name: 'transcription',
    title: 'transcripts of sound of 1 MB, 10 connections',
    model: 'transcription',
    path: '/v1/audio/transcriptions',
    body: {},
    file: asciiSound,
    connections: 10,
    isOptional: true,
  },
]

/** Finds a scenario. Throws where there is none. */
export function scenarioNamed(name: string): Scenario {
  const found = scenarios.find((each) => each.name === name)
  if (!found) throw new Error(`there is no scenario ${name}`)
  return found
}

/** Returns the load of streams that are open for a while, and then cut. */
export function planOfStreams(subject: Subject, connections: number, seconds: number): Plan {
  const request = postOf(chat, subject.headers, {
    model: subject.modelOf('quiet', true),
    ...streamed,
  })
  return { ports: subject.ports, request, connections, seconds, patienceSeconds: 0, leaveEvery: 0 }
}

/** Returns the load of a scenario on one subject. */
export function planOf(subject: Subject, scenario: Scenario, seconds: number): Plan {
  const { path, body, file, connections, leaveEvery = 0, minSeconds = 0 } = scenario
  const model = subject.modelOf(scenario.model, leaveEvery > 0)
  return {
    ports: subject.ports,
    request:
      file === undefined
        ? postOf(path, subject.headers, { model, ...body })
        : uploadOf(path, subject.headers, { fields: { model }, file }),
    connections,
    seconds: Math.max(seconds, minSeconds),
    patienceSeconds: 20,
    leaveEvery,
  }
}
