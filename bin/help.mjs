// What `tollgate --help` says, of the sources and of the single executable. Plain JavaScript for any
// Node from 18 on, as the launcher is.

/** Name, words, and for which program where it is not both. A name of nothing goes on with the line before. */
const lines = [
  ['start', 'run the server (the default); --workers 4 for several processes on its port'],
  ['dev', 'run it, and again after each change of its source', 'sources'],
  ['test [args]', 'run the tests; arguments go to bun test', 'sources'],
  ['deep [args]', 'run the longest tests, and try all that test only samples', 'sources'],
  [
    'faults [names]',
    'run the tests that need services of their own, or those of these names',
    'sources',
  ],
  [
    'fuzz',
    'send hostile requests to every route, and hostile answers to the HTTP client',
    'sources',
  ],
  [
    'simulation [seeds]',
    'simulate leases, journal and database with faults, or replay these seeds: docs/money.md',
    'sources',
  ],
  [
    'hostile [names]',
    'run the attacks of a hostile customer, and report what each came to',
    'sources',
  ],
  ['docs', 'run what the pages have for libraries that it installs first', 'sources'],
  ['dashboard', 'run the tests that need a browser: Chromium', 'sources'],
  [
    'clients [names]',
    'run client libraries against it, or those of these names: docs/clients.md',
    'sources',
  ],
  ['check', 'run what must pass before a change is sent', 'sources'],
  ['run <file>', 'run a program of this checkout, such as server/scripts/openapi.ts', 'sources'],
  ['doctor', 'tell what is wrong here, and how to mend it'],
  ['migrate', 'bring the database up to date'],
  ['audit', 'check that the ledger is in order; --json for programs'],
  ['backup <file>', 'write all of the database into a file'],
  ['restore <file>', 'put a backup into a database'],
  ['rotate-keys', 'have the first key of ENCRYPTION_KEY wrap all stored secrets'],
  ['sign-in-link', 'print a link that signs the operator in to the dashboard, once'],
  ['users, keys, credits, models, connections', ''],
  ['', 'operate a server that runs; each has --help'],
  [
    'connect',
    'lend models and tools of this machine to a Tollgate elsewhere: docs/self-hosted.md',
    'sources',
  ],
  [
    'connect',
    'lend models and tools of this machine to a Tollgate elsewhere; --help',
    'executable',
  ],
  ['healthy', 'ask the server that runs here whether it lives; exit code 0 if so', 'executable'],
  [
    'bench [name]',
    'compare with nginx and the peers that are installed, or run one measurement:',
    'sources',
  ],
  [
    '',
    'gate, peers (installs them), streams, cpu, growth, profile, journal, limits, storm, soak',
    'sources',
  ],
  ['build [path]', 'make a single executable of it, dist/tollgate', 'sources'],
  ['sbom', 'print the bill of materials of this version, CycloneDX in JSON', 'sources'],
  ['--help', 'this text'],
  ['--version', 'the version of Tollgate'],
]

const nameWidth = 13

/** One line, its words in the column of all; what is longer than that column has the space of one. */
const lineOf = ([name, words]) => `  ${name.padEnd(nameWidth)} ${words}`.trimEnd()

/** The whole text for `sources` or `executable`. */
export function helpFor(program) {
  const shown = lines.filter(([, , only]) => only === undefined || only === program)
  const closing = 'DATA_DIR and other relative paths start where you stand.'
  const ofSources = program === 'sources' ? ' TOLLGATE_BUN names another Bun to run.' : ''
  return `Usage: tollgate [command]\n\n${shown.map(lineOf).join('\n')}\n\n${closing}${ofSources}`
}
