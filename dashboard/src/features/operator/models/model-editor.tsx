import { ResourceForm } from '../../../components/resource-form'
import { Badge, Button, Code, Group, Paper, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ModelFields, modelFieldsOf, useModelForm } from './model-fields'
import { ModelCost } from './model-cost'
import { ModelPrices } from './model-prices'
import { api, type Schemas } from '../../../api/client'
import { changedFields } from '../../../components/changed-fields'
import { Confirm } from '../../../components/confirm'
import { Copy } from '../../../components/copy'
import { Loaded } from '../../../components/loaded'
import { Permitted, PermittedForms } from '../../../components/permitted'
import { Problem } from '../../../components/problem'
import { FailureScope } from '../../../components/query-failure'
import { modelQuery, saveModel, type Model } from './queries'
import { useRefresh } from '../refresh'
import { useSubmit } from '../../../components/use-submit'
import { SidePanel } from '../../../components/side-panel'

interface Props {
  id: string
  onClose: () => void
}

/** Edits one model: fields, prices and availability. */
export function ModelEditor({ id, onClose }: Props) {
  const query = useQuery(modelQuery(id))
  return (
    <SidePanel onClose={onClose} size="xl" title={query.data?.name ?? id}>
      <FailureScope>
        <Loaded query={query} what="model">
          {(model) => (
            <Stack gap="xl">
              <Group gap="xs">
                <Code style={{ overflowWrap: 'anywhere' }}>{model.id}</Code>
                <Copy value={model.id} label="Copy ID" />
              </Group>
              <Serving model={model} />
              <ModelPrices model={model} />
              <ModelCost model={model} />
              <PermittedForms to="PUT /api/admin/models/{id}">
                <Editor model={model} />
              </PermittedForms>
              <Permitted to="DELETE /api/admin/models/{id}">
                <Restoring model={model} onClose={onClose} />
              </Permitted>
            </Stack>
          )}
        </Loaded>
      </FailureScope>
    </SidePanel>
  )
}

function Serving({ model: { id, enabled } }: { model: Model }) {
  const refresh = useRefresh()
  const [isConfirming, setConfirming] = useState(false)
  const set = async (isEnabled: boolean) => {
    await saveModel(id, { enabled: isEnabled })
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
          <Permitted to="PUT /api/admin/models/{id}">
            <Button
              size="xs"
              variant="default"
              loading={isBusy}
              onClick={() => (enabled ? setConfirming(true) : void submit(true))}
            >
              {enabled ? 'Disable' : 'Enable'}
            </Button>
          </Permitted>
        </Group>
      </Paper>
      {isConfirming && (
        <Confirm
          question={`Disable ${id}?`}
          about="Requests for it are rejected from now on, for every account. Running requests complete."
          label="Disable"
          cancel="Cancel"
          onConfirm={() => set(false)}
          onClose={() => setConfirming(false)}
        />
      )}
    </Stack>
  )
}

function Editor({ model }: { model: Model }) {
  const refresh = useRefresh()
  const before = modelFieldsOf(model)
  const form = useModelForm(before)
  const save = async (fields: typeof before) => {
    const saved = modelFieldsOf(
      await saveModel(model.id, changedFields<Schemas['ChangedModel']>(fields, before)),
    )
    form.setInitialValues(saved)
    form.setValues(saved)
    await refresh()
    notifications.show({ message: `${model.id} was saved.` })
  }
  return (
    <ResourceForm form={form} save={save} label="Save">
      <ModelFields form={form} />
    </ResourceForm>
  )
}

/** Deletes a model that the operator added, or restores the defaults of a built-in one. */
function Restoring({ model: { id }, onClose }: { model: Model; onClose: () => void }) {
  const refresh = useRefresh()
  const [isConfirming, setConfirming] = useState(false)
  const remove = async () => {
    await api.DELETE('/api/admin/models/{id}', { params: { path: { id } } })
    onClose()
    await refresh()
  }
  return (
    <Group>
      <Button variant="subtle" color="red" onClick={() => setConfirming(true)}>
        Delete or restore
      </Button>
      {isConfirming && (
        <Confirm
          question={`Delete or restore ${id}?`}
          about="A model that you added is deleted. A built-in model gets its default fields, prices and cost again. Scheduled prices are deleted."
          label="Delete"
          onConfirm={remove}
          onClose={() => setConfirming(false)}
        />
      )}
    </Group>
  )
}
