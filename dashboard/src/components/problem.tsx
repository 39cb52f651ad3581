import { Alert } from '@mantine/core'

/** An error message; renders nothing without an error. */
export const Problem = ({ error }: { error: Error | undefined }) =>
  error && (
    <Alert color="red" role="alert">
      {error.message}
    </Alert>
  )
