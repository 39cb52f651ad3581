/** A program that a stage needs besides what `npm ci` installs. */
export type Need = 'PostgreSQL' | 'PgBouncer' | 'Redis' | 'Chromium' | 'ip'

/** A stage of CI: a command of package.json, and how its result is read. */
export interface Stage {
  name: string
  /** A script of package.json. */
  script: string
  args?: readonly string[]
  environment?: Readonly<Record<string, string>>
  needs?: readonly Need[]
  /** Runs with nothing beside it. Of the others, two run at a time. */
  isAlone?: boolean
  /** Whether the script writes the JUnit reports that `TEST_JUNIT` asks for; the exit code decides alone otherwise. */
  hasTests: boolean
  limitMinutes: number
}

/** The folders of `server/src` whose tests use a database. */
const subjectsWithTables = [
  'alerts',
  'audit-log',
  'auth',
  'automation',
  'catalog',
  'commands',
  'idempotency',
  'jobs',
  'ledger',
  'limits/slices',
  'platform',
  'request-logs',
  'stored-responses',
]

/**
 * All stages, in the order in which they start. They hold states only: `npm run measure` has every bound on time, rate,
 * memory and CPU, but for the collapse that the attacks of `hostile` must not cause.
 */
export const stages: readonly Stage[] = [
  { name: 'check', script: 'check', isAlone: true, hasTests: false, limitMinutes: 10 },
  { name: 'test', script: 'test', isAlone: true, hasTests: true, limitMinutes: 25 },
  // The victim of an attack shares two processors with the attacker: a third load would be one too many.
  {
    name: 'hostile',
    script: 'test:hostile',
    // Its tables are in `test`, `deep` and `faults`, whole: docs/contribute/testing.md, *Once in CI*.
    args: ['tests/faults/hostile/'],
    needs: ['PostgreSQL', 'Redis', 'ip'],
    isAlone: true,
    hasTests: true,
    limitMinutes: 15,
  },
  {
    name: 'faults',
    script: 'test:faults',
    needs: ['PostgreSQL', 'Redis', 'ip'],
    // Nodes that wait for each other, or for a store, do so for a second or less.
    isAlone: true,
    hasTests: true,
    limitMinutes: 30,
  },
  {
    name: 'dashboard',
    script: 'test:dashboard',
    environment: { TEST_POSTGRES: 'system' },
    needs: ['PostgreSQL', 'Chromium'],
    isAlone: true,
    hasTests: true,
    limitMinutes: 40,
  },
  {
    name: 'deep',
    script: 'test:deep',
    environment: { TEST_POSTGRES: 'system' },
    needs: ['PostgreSQL', 'PgBouncer'],
    isAlone: true,
    hasTests: true,
    limitMinutes: 40,
  },
  // What `test` runs on the embedded version of PostgreSQL; `deep` and `dashboard` use the system's too.
  {
    name: 'system PostgreSQL',
    script: 'test',
    args: [
      'server/testing/databases.test.ts',
      ...subjectsWithTables.map((subject) => `server/src/${subject}/`),
      'tests/money/',
    ],
    environment: { TEST_POSTGRES: 'system' },
    needs: ['PostgreSQL'],
    hasTests: true,
    limitMinutes: 20,
  },
  // With an embedded database a process counts limits alone; with others it shares them.
  {
    name: 'limits, embedded',
    script: 'test',
    args: ['tests/gateway/limits'],
    environment: { TEST_EMBEDDED: 'true' },
    hasTests: true,
    limitMinutes: 10,
  },
  // The same seeds on every machine; `npm run test:simulation` draws random ones.
  {
    name: 'simulation',
    script: 'test:simulation',
    environment: { SEED: '5000', RUNS: '150', HOURS: '0.3', SECONDS: '240' },
    hasTests: false,
    limitMinutes: 10,
  },
  { name: 'docs', script: 'test:docs', hasTests: true, limitMinutes: 10 },
]
