import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../../api/client'
import { Card } from '../../../components/card'
import { Confirm } from '../../../components/confirm'
import { Loaded } from '../../../components/loaded'
import { Page } from '../../../components/page'
import { PermittedForms } from '../../../components/permitted'
import { ResourceForm } from '../../../components/resource-form'
import { configQuery, newIn, sections, type Config } from './queries'
import { SettingInputs } from './setting-inputs'

export const ConfigPage = () => (
  <Page
    title="Configuration"
    about="Settings for all accounts. Changes apply from the next request, on every node within seconds. Settings not changed here come from the environment."
  >
    <Loaded query={useQuery(configQuery)}>{(config) => <ConfigForm config={config} />}</Loaded>
  </Page>
)

/** The data and access that a change removes, for the confirmation; empty when it removes nothing. */
const lossesOf = (now: Config, before: Config): string[] => [
  ...(now.retention_days < before.retention_days
    ? ['Older usage and request logs are permanently deleted within the hour.']
    : []),
  ...(now.stored_megabytes_per_account < before.stored_megabytes_per_account
    ? ['Accounts that have stored more lose their oldest responses and conversations.']
    : []),
  ...(before.platform_connections && !now.platform_connections
    ? ['Platform connections are no longer available to any account.']
    : []),
]

const paths = sections
  .flatMap(({ fields }) => fields.flatMap((field) => [field, ...field.parts]))
  .map(({ path }) => [path, true] as const)

function ConfigForm({ config }: { config: Config }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: config })
  const [dialog, setDialog] = useState<Config>()
  // An error within a group is shown at its field too.
  const fields = {
    values: { ...form.values, ...Object.fromEntries(paths) },
    setFieldError: form.setFieldError,
  }
  const save = async (now: Config) => {
    const saved = await bodyOf(api.PUT('/api/admin/config', { body: newIn(now, config) }))
    queries.setQueryData(configQuery.queryKey, saved)
    form.setInitialValues(saved)
    form.setValues(saved)
    notifications.show({ message: 'Saved.' })
  }
  const saveOrConfirm = async (now: Config) => {
    if (lossesOf(now, config).length > 0) setDialog(now)
    else await save(now)
  }
  const discard = (
    <Button variant="default" disabled={!form.isDirty()} onClick={form.reset}>
      Discard changes
    </Button>
  )
  return (
    <>
      <PermittedForms to="PUT /api/admin/config">
        {' '}
        <ResourceForm
          form={form}
          save={saveOrConfirm}
          label="Save"
          errorFields={fields}
          actions={discard}
        >
          {sections.map(({ title, fields: settings }) => (
            <Card key={title} title={title}>
              <SettingInputs fields={settings} form={form} />
            </Card>
          ))}
        </ResourceForm>
      </PermittedForms>{' '}
      {dialog && (
        <Confirm
          question="Save these changes?"
          about={lossesOf(dialog, config).join(' ')}
          label="Save changes"
          cancel="Cancel"
          onConfirm={() => save(dialog)}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  )
}
