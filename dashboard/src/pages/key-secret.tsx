import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { Copy } from '../components/copy'
import { SecretOnce } from '../components/secret-once'

interface Props {
  /** The name of the key. */
  name: string
  secret: string
  onDone: () => void
}

/** Shows a secret, once; only its button closes it, so that a stray click does not lose it. */
export const KeySecret = ({ name, secret, onDone }: Props) => (
  <Modal
    opened
    onClose={onDone}
    title={`The key ${name}`}
    closeOnClickOutside={false}
    closeOnEscape={false}
    withCloseButton={false}
  >
    <Stack gap="sm">
      <Alert color="yellow">
        Copy the key now and keep it where secrets belong. It is not shown again.
      </Alert>
      <SecretOnce label="API key" secret={secret} />
      <Group justify="space-between">
        <Copy value={secret} label="Copy" />
        <Button onClick={onDone}>I have kept it</Button>
      </Group>
    </Stack>
  </Modal>
)
