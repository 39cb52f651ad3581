import { addModels, addPeople, type SeededPeople } from './people'
import { dayMs, incidentsAt, planRequests, type Incidents } from './plan'
import { addPastPartitions, writeRequests } from './write-requests'
import { databaseUrl, openDatabase } from '../harness/database'
import type { Gateway } from '../harness/server'
import { Database } from '../../server/src/platform/db/database'

/** A seeded installation. */
export interface Seeded {
  people: SeededPeople
  incidents: Incidents
  /** The days that have request logs; UTC midnights, the second one excluded. */
  fromMs: number
  toMs: number
  requests: number
}

const days = 30
/** The month before has so many requests, of which only sums are left. */
const partOfMonthBefore = 20

/**
 * Fills an empty installation: 20 people, three organizations with departments, 15 models of five providers, and so many
 * requests in the 30 days before today (UTC), booked by the code that books those of the gateway. Of the 30 days before
 * those, the sums are there and the logs are gone, as after their retention.
 */
export async function seed(
  gateway: Gateway,
  requests: number,
  nowMs = Date.now(),
): Promise<Seeded> {
  await addModels(gateway)
  const people = await addPeople(gateway)
  const toMs = nowMs - (nowMs % dayMs)
  const fromMs = toMs - days * dayMs
  const sinceMs = fromMs - days * dayMs
  const incidents = incidentsAt(nowMs)
  await using sql = await openDatabase(gateway.dataDir)
  await addPastPartitions(sql, sinceMs, toMs)
  const address = { connectionString: await databaseUrl(gateway.dataDir) }
  await using database = new Database(address, {
    poolSize: 2,
    statementMs: 60_000,
    onError: console.error,
  })
  const before = {
    fromMs: sinceMs,
    toMs: fromMs,
    requests: Math.round(requests / partOfMonthBefore),
  }
  await writeRequests(database, people, planRequests(before, incidents))
  for (let ms = sinceMs; ms < fromMs; ms += dayMs) {
    const day = new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')
    await sql.unsafe(`truncate request_log_${day}`)
  }
  const span = { fromMs, toMs, requests }
  const written = await writeRequests(database, people, planRequests(span, incidents))
  await sql.unsafe('analyze')
  return { people, incidents, fromMs, toMs, requests: written }
}
