import { z } from 'zod'

/** Parses port numbers, separated by commas. */
export const Ports = z
  .string()
  .regex(/^\d{1,5}(,\d{1,5}){0,49}$/, 'must be port numbers with commas between them')
  .default('443')
  .transform((text) => text.split(',').map(Number))
  .refine((ports) => ports.every((port) => port > 0 && port < 65_536), 'must be 1 to 65535 each')
