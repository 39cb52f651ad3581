// The text of `tollgate --help`, for the sources and for the single executable. Plain JavaScript for
// Node 18 and later, like the launcher.

/** Name, description, and the program where it is not both. An empty name continues the line before. */
const lines = [
  ['start', 'run the server (the default); --workers auto for a process on each processor'],
  ['dev', 'run the server, and restart it after each change of its source', 'sources'],
  ['test [args]', 'run the tests; arguments go to bun test', 'sources'],
  ['deep [args]', 'run the longest tests, and all that test only samples', 'sources'],
  ['faults [names]', 'run the tests that need their own services, or the named suites', 'sources'],
  [
    'fuzz',
    'send hostile requests to every route, and hostile answers to the HTTP client',
    'sources',
  ],
  [
    'simulation [seeds]',
    'simulate leases, journal and database under faults, or replay seeds: docs/contribute/simulation.md',
    'sources',
  ],
  ['simulation scale', 'simulate many nodes in several regions; --help', 'sources'],
  [
    'hostile [names]',
    'run the attacks of a hostile customer, and report the effect of each',
    'sources',
  ],
  ['docs', 'run the examples in docs/ that need libraries, which it installs first', 'sources'],
  ['dashboard', 'run the tests that need a browser: Chromium', 'sources'],
  [
    'clients [names]',
    'run client libraries against the server, or the named ones: docs/guides/clients.md',
    'sources',
  ],
  [
    'ci [stages]',
    'run all that decides on landing, as one report: dist/ci/report.md, or the named stages',
    'sources',
  ],
  [
    'measure [names]',
    'measure every bound on time, rate, memory and CPU: dist/measure/report.md',
    'sources',
  ],
  ['check', 'run the checks that must pass before a change is submitted', 'sources'],
  ['run <file>', 'run a program of this checkout, such as server/scripts/openapi.ts', 'sources'],
  ['doctor', 'diagnose this installation, and print how to fix it'],
  ['migrate', 'migrate the database to this version'],
  ['audit', 'verify the ledger; --json for programs'],
  ['backup <file>', 'write the whole database into a file'],
  ['restore <file>', 'restore a backup into a database'],
  ['rotate-keys', 'rewrap all stored secrets with the first key of ENCRYPTION_KEY'],
  ['sign-in-link', 'print a one-time link that signs in the operator, or any account'],
  ['users, keys, credits, models, connections', ''],
  ['', 'operate a running server; each has --help'],
  [
    'connect',
    'serve models and tools of this machine through a Tollgate elsewhere: docs/concepts/self-hosted.md',
    'sources',
  ],
  [
    'connect',
    'serve models and tools of this machine through a Tollgate elsewhere; --help',
    'executable',
  ],
  ['healthy', 'check that the server on this machine is alive; exit code 0 if so', 'executable'],
  [
    'bench [name]',
    'compare with nginx and the installed peers, or run one measurement:',
    'sources',
  ],
  [
    '',
    'gate, peers (installs them), streams, cpu, growth, profile, journal, limits, storm, log-export, soak',
    'sources',
  ],
  ['build [path]', 'build a single executable, dist/tollgate', 'sources'],
  ['sbom', 'print the software bill of materials of this version, CycloneDX in JSON', 'sources'],
  ['--help', 'this text'],
  ['--version', 'the version of Tollgate, and the commit that it was built from'],
]

const nameWidth = 13

/** Formats one line, descriptions aligned; a name longer than the column is followed by one space. */
const lineOf = ([name, words]) => `  ${name.padEnd(nameWidth)} ${words}`.trimEnd()

/** Returns the whole text for `sources` or `executable`. */
export function helpFor(program) {
  const shown = lines.filter(([, , only]) => only === undefined || only === program)
  const closing = 'DATA_DIR and other relative paths start from the working directory.'
  const ofSources = program === 'sources' ? ' TOLLGATE_BUN names another Bun to run.' : ''
  return `Usage: tollgate [command]\n\n${shown.map(lineOf).join('\n')}\n\n${closing}${ofSources}`
}
