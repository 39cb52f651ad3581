import type { SQL } from 'bun'
import { createFixture, type Fixture } from '../conformance/fixture'
import { openDatabase } from '../../harness/database'
import { toStream, type Answer, type Json, type Stream } from '../../harness/http'
import { findBookedOnce, type Booked } from '../../harness/ledger'

/** A fixture whose provider speaks a dialect of its own, and the books of its gateway. */
export interface Translation extends AsyncDisposable {
  fixture: Fixture
  sql: SQL
  /** A chat completion by `fake/<name>`, read to its end. */
  chat: (name: string, fields?: Json) => Promise<Answer>
  stream: (name: string, fields?: Json) => Promise<Stream>
  booked: (answer: Answer) => Promise<Booked>
}

/** USD per million tokens; a cache is read at a tenth, and written at 1.25. */
export const prices = { input: 1, output: 4, cached_input: 0.1, cache_write: 1.25 }

/** What that many tokens cost, in nano-dollars. */
export const priceOf = ({ input = 0, read = 0, written = 0, output = 0 }) =>
  BigInt(input * 1000 + read * 100 + written * 1250 + output * 4000)

/** Starts a fixture with its provider behind `adapter`, whose path there is `path`. */
export async function startTranslation(
  adapter: string,
  path: string,
  fields: Json = {},
): Promise<Translation> {
  const provider = { adapter, options: { paths: { chat: path } }, ...fields }
  const environment = { MINIMUM_BALANCE_USD: '0', LOG_LEVEL: 'warn' }
  const fixture = await createFixture({ provider, environment })
  const sql = await openDatabase(fixture.rig.gateway.dataDir)
  const chat: Translation['chat'] = async (name, own = {}) => {
    const model = await fixture.model(name, { pricing: prices })
    const messages = [{ role: 'user', content: 'Say something.' }]
    const response = await fixture.post('/v1/chat/completions', { model, messages, ...own })
    const { status, headers } = response
    const text = await response.text()
    const body: Json = text.startsWith('{') ? JSON.parse(text) : {}
    return { status, headers, text, body, error: { ...errorIn(body) }, tookMs: 0 }
  }
  return {
    fixture,
    sql,
    chat,
    stream: async (name, own) => toStream(await chat(name, { stream: true, ...own })),
    booked: (answer) => findBookedOnce(sql, answer),
    async [Symbol.asyncDispose]() {
      await sql.close()
      await fixture[Symbol.asyncDispose]()
    },
  }
}

const errorIn = ({ error }: Json): Json =>
  typeof error === 'object' && error !== null ? { ...error } : {}
