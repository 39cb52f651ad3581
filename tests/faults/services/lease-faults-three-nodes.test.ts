import { setDefaultTimeout } from 'bun:test'
import { describeLeaseFaults } from './lease-faults'

setDefaultTimeout(360_000)

describeLeaseFaults(3)
