import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'

const projectRoot = dirname(dirname(import.meta.dir))

/**
 * Material the tests may read but the project does not hold: a description of OpenAI's interface
 * and recorded answers of providers. Without the folder those tests are skipped.
 */
export const fixturesDir = join(projectRoot, '..', 'shared', 'fixtures')

export const hasFixtures = existsSync(fixturesDir)

const upstreamDir = join(fixturesDir, 'upstream')

/** Recordings whose chunks are OpenAI's; Azure's is one of the Responses interface. */
const alike =
  /^(openai-(text|completion-text|embedding|chat-stream|error\.1\.json)|mistral|groq|deepseek)/

/** An upstream's answer, byte for byte. */
export interface RecordedAnswer {
  name: string
  status: number
  headers: Record<string, string>
  body: Buffer
}

const typeOf = (name: string) => (name.endsWith('.json') ? 'application/json' : 'text/event-stream')

/** The bytes a file stands for: chunk files leave out the framing and `[DONE]`. */
function bytesOf(name: string, text: string): Buffer {
  if (!name.endsWith('.chunks.txt')) return Buffer.from(text)
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Buffer.from([...lines, '[DONE]'].map((line) => `data: ${line}\n\n`).join(''))
}

/** Names of the recordings in OpenAI's format, none where the folder is absent. */
export const recordingNames = (): string[] =>
  hasFixtures ? readdirSync(upstreamDir).filter((name) => alike.test(name)) : []

/** One recording in OpenAI's format as its provider sent it. Throws when there is no such file. */
export function readRecording(name: string): RecordedAnswer {
  const text = readFileSync(join(upstreamDir, name), 'utf8')
  const headers = { 'content-type': typeOf(name) }
  // The only error among them was an exhausted quota.
  const status = name.startsWith('openai-error') ? 429 : 200
  return { name, status, headers, body: bytesOf(name, text) }
}

const projectDir = join(import.meta.dir, 'upstreams', 'recordings')

/** The project's own streams, written by hand: by name without `.sse`. They are always there. */
export const readProjectRecordings = (): Map<string, Buffer> =>
  new Map(
    readdirSync(projectDir).map((file) => [
      file.replace(/\.sse$/, ''),
      readFileSync(join(projectDir, file)),
    ]),
  )

type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A schema that also takes null, said in the words of JSON schema 2020. */
function nullable({ nullable: _nullable, ...schema }: Json): Json {
  if (typeof schema['type'] !== 'string') return { anyOf: [schema, { type: 'null' }] }
  const options = Array.isArray(schema['enum']) ? { enum: [...schema['enum'], null] } : {}
  return { ...schema, ...options, type: [schema['type'], 'null'] }
}

/** Rewrites the `nullable: true` of OpenAPI 3.0, which the document still uses in places. */
function modern(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(modern)
  if (!isJson(value)) return value
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [
    key,
    modern(inner),
  ])
  const schema = Object.fromEntries(entries)
  // A property may be called `nullable`; the keyword is the one that is a boolean.
  return schema['nullable'] === true ? nullable(schema) : schema
}

function loadSchemas(): Ajv2020 {
  const file = join(fixturesDir, 'openai-openapi.json')
  const document: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const components = isJson(document) ? modern(document['components']) : {}
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  return ajv.addSchema({ $id: 'openai', components }, 'openai')
}

let schemas: Ajv2020 | undefined

const inWords = ({ instancePath, message }: ErrorObject) => `${instancePath || '/'} ${message}`

/**
 * Holds `value` against a schema of OpenAI's description, for example
 * `CreateChatCompletionResponse`; returns what is wrong, an empty list when nothing is. Needs
 * `hasFixtures`. The document is read at the first call, a schema compiled when first asked for.
 */
export function validate(schemaName: string, value: unknown): string[] {
  schemas ??= loadSchemas()
  const check = schemas.getSchema(`openai#/components/schemas/${schemaName}`)
  if (!check) throw new Error(`OpenAI's description has no schema ${schemaName}.`)
  return check(value) ? [] : (check.errors ?? []).map(inWords)
}
