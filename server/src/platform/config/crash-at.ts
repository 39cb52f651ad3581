import { z } from 'zod'
import { crashPoints, type PlannedCrash } from '../crash-points'

/** `<name>` or `<name>:<nth>`. */
export const CrashAt = z.string().transform((text, context): PlannedCrash => {
  const [, name, nth = '1'] = /^([a-z-]+)(?::([1-9]\d*))?$/.exec(text) ?? []
  const point = crashPoints.find((crashPoint) => crashPoint === name)
  if (point) return { point, nth: Number(nth) }
  context.addIssue(`must be one of ${crashPoints.join(', ')}, and :<nth> if not the first time`)
  return z.NEVER
})
