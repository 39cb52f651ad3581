import { existsSync } from 'node:fs'
import { findChromium } from '../harness/chromium'
import { pgbouncer } from '../harness/pgbouncer'
import type { Need } from './stages'

/** Tells for each need whether this machine has it, as the suites look for it. */
const isThere: Readonly<Record<Need, () => boolean>> = {
  PostgreSQL: () => existsSync('/usr/lib/postgresql'),
  PgBouncer: () => pgbouncer !== null,
  Redis: () => Bun.which('redis-server') !== null,
  Chromium: () => findChromium() !== undefined,
  ip: () => Bun.which('ip') !== null,
}

/** Returns those of the needs that this machine lacks. */
export const findMissing = (needs: readonly Need[]): Need[] =>
  needs.filter((need) => !isThere[need]())
