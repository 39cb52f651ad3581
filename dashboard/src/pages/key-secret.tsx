import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { Copy } from '../components/copy'
import { SecretOnce } from '../components/secret-once'

interface Props {
  /** The name of the key. */
  name: string
  secret: string
  onDone: () => void
}

/** Shows a secret once; only its button closes the dialog, so that a stray click does not lose the secret. */
export const KeySecret = ({ name, secret, onDone }: Props) => (
  <Modal
    opened
    onClose={onDone}
    title={`API key ${name}`}
    closeOnClickOutside={false}
    closeOnEscape={false}
    withCloseButton={false}
  >
    <Stack gap="sm">
      <Alert color="yellow">Copy the key now and store it safely. It is not shown again.</Alert>
      <SecretOnce label="API key" secret={secret} />
      <Group justify="space-between">
        <Copy value={secret} label="Copy" />
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  </Modal>
)
