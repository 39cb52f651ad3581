import { Badge, Button, Code, Drawer, Group, Paper, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ModelFields, modelFieldsOf, useModelForm } from './model-fields'
import { ModelPrices } from './model-prices'
import { json } from '../../api'
import { changesOf } from '../../changes'
import { Confirm } from '../../components/confirm'
import { Copy } from '../../components/copy'
import { Loaded } from '../../components/loaded'
import { Problem } from '../../components/problem'
import { inPath, modelQuery, oneModel, type Model } from '../../operator/models'
import { useRefresh } from '../../operator/refresh'
import { useSubmit } from '../../submit'

interface Props {
  id: string
  onClose: () => void
}

/** Edits one model: fields, prices and availability. */
export function ModelEditor({ id, onClose }: Props) {
  const query = useQuery(modelQuery(id))
  return (
    <Drawer opened onClose={onClose} position="right" size="xl" title={query.data?.name ?? id}>
      <Loaded query={query}>
        {(model) => (
          <Stack gap="xl">
            <Group gap="xs">
              <Code style={{ overflowWrap: 'anywhere' }}>{model.id}</Code>
              <Copy value={model.id} label="Copy ID" />
            </Group>
            <Serving model={model} />
            <ModelPrices model={model} />
            <Editor model={model} />
            <Restoring model={model} onClose={onClose} />
          </Stack>
        )}
      </Loaded>
    </Drawer>
  )
}

const save = async (id: string, fields: object) => {
  const answer = await (await oneModel.$put(inPath(id), json(fields))).json()
  if ('prices' in answer) throw new Error(`Model "${id}" not found.`)
  return answer
}

function Serving({ model: { id, enabled } }: { model: Model }) {
  const refresh = useRefresh()
  const [isAsked, setAsked] = useState(false)
  const set = async (wanted: boolean) => {
    await save(id, { enabled: wanted })
    await refresh()
  }
  const { submit, isBusy, error } = useSubmit(set)
  return (
    <Stack gap="xs" component="section" aria-label="Availability">
      <Problem error={error} />
      <Paper withBorder p="sm" role="status">
        <Group justify="space-between" gap="sm">
          <Badge variant="light" color={enabled ? 'green' : 'gray'}>
            {enabled ? 'Enabled' : 'Disabled'}
          </Badge>
          <Text size="sm" flex="1 1 200px">
            {enabled
              ? 'Listed and available for requests.'
              : 'Not listed. Requests are rejected as for a model that does not exist.'}
          </Text>
          <Button
            size="xs"
            variant="default"
            loading={isBusy}
            onClick={() => (enabled ? setAsked(true) : void submit(true))}
          >
            {enabled ? 'Disable' : 'Enable'}
          </Button>
        </Group>
      </Paper>
      {isAsked && (
        <Confirm
          question={`Disable ${id}?`}
          about="Requests for it are rejected from now on, for every account. Running requests complete."
          label="Disable"
          cancel="Cancel"
          onConfirm={() => set(false)}
          onClose={() => setAsked(false)}
        />
      )}
    </Stack>
  )
}

function Editor({ model }: { model: Model }) {
  const refresh = useRefresh()
  const before = modelFieldsOf(model)
  const form = useModelForm(before)
  const { submit, isBusy, error } = useSubmit(async (fields: typeof before) => {
    const kept = modelFieldsOf(await save(model.id, changesOf(fields, before)))
    form.setInitialValues(kept)
    form.setValues(kept)
    await refresh()
    notifications.show({ message: `${model.id} was saved.` })
  }, form)
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
      <Stack gap="sm">
        <Problem error={error} />
        <ModelFields form={form} />
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Deletes a model that the operator added, or restores the defaults of a built-in one. */
function Restoring({ model: { id }, onClose }: { model: Model; onClose: () => void }) {
  const refresh = useRefresh()
  const [isAsked, setAsked] = useState(false)
  const remove = async () => {
    await oneModel.$delete(inPath(id))
    onClose()
    await refresh()
  }
  return (
    <Group>
      <Button variant="subtle" color="red" onClick={() => setAsked(true)}>
        Delete or restore
      </Button>
      {isAsked && (
        <Confirm
          question={`Delete or restore ${id}?`}
          about="A model that you added is deleted. A built-in model gets its default fields and prices again. Scheduled prices are deleted."
          label="Delete"
          onConfirm={remove}
          onClose={() => setAsked(false)}
        />
      )}
    </Group>
  )
}
