// Fills a new data directory with an installation to look at, and keeps it: 20 people, 3 organizations, 15 models, 30 days.
// Run by: node bin/tollgate.mjs run tests/seed/main.ts <directory> [requests]
import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { seed } from './seed'
import { startGateway } from '../harness/server'

const [, , directory, requests = '1000000'] = process.argv
if (directory === undefined) throw new Error('name the directory to create the installation in')
const dataDir = resolve(directory)
await mkdir(dataDir, { recursive: true, mode: 0o711 })
const startedAtMs = performance.now()
await using gateway = await startGateway({ dataDir })
const seeded = await seed(gateway, Number(requests))
const seconds = Math.round((performance.now() - startedAtMs) / 1000)
console.log(`${seeded.requests} requests of ${seeded.people.accounts.size} people in ${seconds} s.`)
console.log(`DATA_DIR=${dataDir} npm start serves it; tollgate sign-in-link signs in.`)
