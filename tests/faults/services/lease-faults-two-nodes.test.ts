import { setDefaultTimeout } from 'bun:test'
import { describeLeaseFaults } from './lease-faults'

setDefaultTimeout(180_000)

describeLeaseFaults(2)
