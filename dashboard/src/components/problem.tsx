import { Alert } from '@mantine/core'

/** Why something was refused; nothing where it was not. */
export const Problem = ({ error }: { error: Error | undefined }) =>
  error && (
    <Alert color="red" role="alert">
      {error.message}
    </Alert>
  )
