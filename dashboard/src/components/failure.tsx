import { Alert, Button, Group } from '@mantine/core'

interface Props {
  error: Error
  /** Tries again; without it there is nothing to press. */
  reset?: () => void
}

/** What went wrong, in words, and a way on. */
export const Failure = ({ error, reset }: Props) => (
  <Alert color="red" title="This could not be loaded" m="md">
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
