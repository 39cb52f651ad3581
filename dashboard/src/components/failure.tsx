import { Alert, Button, Group } from '@mantine/core'

interface Props {
  error: Error
  /** Retries; without it there is no button. */
  reset?: () => void
}

/** An error message with a retry button. */
export const Failure = ({ error, reset }: Props) => (
  <Alert color="red" title="Could not load data" m="md">
    {error.message}
    {reset && (
      <Group mt="sm">
        <Button size="xs" variant="light" color="red" onClick={reset}>
          Try again
        </Button>
      </Group>
    )}
  </Alert>
)
