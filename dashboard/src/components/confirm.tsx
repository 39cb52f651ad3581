import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { Problem } from './problem'
import { useSubmit } from './use-submit'

interface Props {
  /** The question in the title. */
  question: string
  /** The consequences. */
  about: string
  label: string
  /** The label of the button that cancels. */
  cancel?: string
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

/** Asks for confirmation of an action that cannot be undone. */
export function Confirm({ question, about, label, cancel = 'Cancel', onConfirm, onClose }: Props) {
  const { submit, isBusy, error } = useSubmit(async () => {
    await onConfirm()
    onClose()
  })
  return (
    <Modal opened onClose={onClose} title={question}>
      <Stack>
        <Text size="sm">{about}</Text>
        <Problem error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {cancel}
          </Button>
          <Button color="red" loading={isBusy} onClick={() => void submit(undefined)}>
            {label}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
