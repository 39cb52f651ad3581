/** A secret that signs what browsers bring back, sealed. */
interface SigningSecretRow {
  id: string
  secret: Buffer
  secret_key_id: string
}

/** What is proven by whoever brings it: a link, a code. One of better-auth's tables. */
interface AuthVerificationRow {
  id: string
  identifier: string
  /** JSON. */
  value: string
  expires_at: Date
}

export interface SignInSchema {
  signing_secret: SigningSecretRow
  auth_verification: AuthVerificationRow
}
