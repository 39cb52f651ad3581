import type { Candidate } from '../../src/routing/candidate'
import { sampleConnection, sampleModel, sampleProvider } from '../catalog/samples'

/** A complete candidate for unit tests, so that a test names only the fields it is about. */
export const sampleCandidate = (fields: Partial<Candidate> = {}): Candidate => ({
  model: sampleModel(),
  provider: sampleProvider(),
  connection: sampleConnection(),
  billing: { mode: 'platform', payer: 'user_1', organizationId: null },
  isPooled: false,
  ...fields,
})
