import { parseArgs } from 'node:util'
import { startFakeProvider } from './fake-provider'

// The fake provider as a process of its own, for benches: its work must not be the gateway's.
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })
const upstream = await startFakeProvider({ port: Number(values.port) })
console.log(`Fake provider on ${upstream.url}`)
