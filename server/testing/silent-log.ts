import { pino } from 'pino'

/** A log that writes nothing, for what logs as a service does. */
export const silentLog = pino({ enabled: false })
