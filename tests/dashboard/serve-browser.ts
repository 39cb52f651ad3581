/**
 * Starts the browser of all dashboard tests, until its standard input ends: a start takes a second of both processors.
 * The first line of its output is the address by which `browser.ts` connects to it.
 */
import { launchBrowserServer } from './browser'

const server = await launchBrowserServer()
// A terminal sends signals to all processes of a run; this one ends when the others have.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
console.log(server.wsEndpoint())
for await (const _ of process.stdin);
await server.close()
process.exit(0)
