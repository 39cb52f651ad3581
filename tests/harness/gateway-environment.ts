type Environment = Record<string, string>

/** Variables that a gateway of the tests inherits from their environment. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR']

const usual: Environment = {
  // As the launcher has them.
  BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
  BUN_JSC_forceRAMSize: '700000000',
  BUN_JSC_largeHeapSize: '60000000',
  MIMALLOC_PURGE_DELAY: '1000',
  PORT: '0',
  // The same on every machine; tests of workers set their number.
  WORKERS: '1',
  LOCAL_DISCOVERY: 'false',
  // Providers of the tests are servers of this machine; tests/gateway/dialects/remote-urls has what those get otherwise.
  REMOTE_URLS: 'passed',
  // All tests come from one address.
  FAILED_AUTHENTICATIONS_PER_MINUTE: '1000000',
  // What one test made fail is none of the next one's business; tests/gateway/resilience has its own.
  BREAKER_SECONDS: '0',
  // Nor is a machine that is busy with other tests; tests/program/process has its own.
  MOST_LOOP_DELAY_MS: '0',
}

/** Returns the variables that every gateway of the tests has, before its own. */
export const environmentOfGateways = (): Environment => ({
  ...Object.fromEntries(
    inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  ),
  ...usual,
  // Otherwise each gateway bundles the dashboard when it is first viewed.
  ...(process.env['TEST_DASHBOARD'] && { TOLLGATE_DASHBOARD: process.env['TEST_DASHBOARD'] }),
})
