/** A sealed secret that signs session cookies. */
interface SigningSecretRow {
  id: string
  secret: Buffer
  secret_key_id: string
}

/** A one-time proof, such as a link or a code. One of better-auth's tables. */
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
