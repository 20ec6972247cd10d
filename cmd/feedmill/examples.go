package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples has the examples in the help of each command, by its path.
var examples = map[string]string{
	"alerts add": `feedmill alerts add --slack "$SLACK_URL"
feedmill alerts add --email ada@example.com --feed df_…`,
	"alerts list":   `feedmill alerts list`,
	"alerts remove": `feedmill alerts remove alr_… --yes`,
	"apply": `feedmill apply -f feedmill/ --plan
feedmill apply -f feedmill/ --set shop --prune --secrets-out secrets.yaml`,
	"diff":   `feedmill diff -f feedmill/`,
	"export": `feedmill export --output feedmill/`,
	"audit":  `feedmill audit --since 7d --action subscription.update`,
	"backup": `feedmill backup /mnt/backups/feedmill --data ./feedmill-data
feedmill backup 's3://backups/feedmill?region=eu-central-1'`,
	"backup verify": `feedmill backup verify /mnt/backups/feedmill`,
	"config":        `feedmill config --config feedmill.yaml`,
	"connections create": `feedmill connections create warehouse postgres --config host=db.example --config database=shop \
  --config user=reader --config password=@password.txt --config sslmode=verify-full`,
	"connections delete":       `feedmill connections delete warehouse --yes`,
	"connections list":         `feedmill connections list`,
	"connections show":         `feedmill connections show warehouse`,
	"connections test":         `feedmill connections test warehouse`,
	"connections update":       `feedmill connections update warehouse --config user=reporting --config password=@password.txt`,
	"connections views delete": `feedmill connections views delete warehouse paid_orders --yes`,
	"connections views list":   `feedmill connections views list warehouse`,
	"connections views set":    `feedmill connections views set warehouse paid_orders --file paid_orders.sql`,
	"connections views show":   `feedmill connections views show warehouse paid_orders`,
	"deliveries list": `feedmill deliveries list --subscription sub_… --state exhausted
feedmill deliveries list --undelivered`,
	"deliveries failures": `feedmill deliveries failures --since 7d`,
	"deliveries retry": `feedmill deliveries retry dlv_…
feedmill deliveries retry --subscription sub_… --state exhausted`,
	"deliveries show": `feedmill deliveries show dlv_…`,
	"doctor":          `feedmill doctor --config feedmill.yaml`,
	"events list":     `feedmill events list --type 'metric.*' --since 1h`,
	"events publish": `feedmill events publish metric.created --resource m_1 --data '{"value": 42}'
feedmill events publish --file events.ndjson`,
	"events show":   `feedmill events show evt_…`,
	"events types":  `feedmill events types`,
	"feeds cancel":  `feedmill feeds cancel df_… rfr_…`,
	"feeds checks":  "feedmill feeds checks df_…",
	"feeds columns": `feedmill feeds columns df_… zip --type text --description "Postal code"`,
	"feeds create query": `feedmill query warehouse sales.orders --filter status:eq:paid --every 1h --spec > orders.json
feedmill feeds create query -f orders.json --watch`,
	"feeds create rest": `echo '{"request":{"url":"https://api.example/orders"},"schedule":{"every":"15m"}}' > orders.json
feedmill feeds create rest -f orders.json --watch`,
	"feeds creation-url": `feedmill feeds creation-url hubspot`,
	"feeds delete":       `feedmill feeds delete df_… --yes`,
	"feeds diff":         `feedmill feeds diff df_… 3 4`,
	"feeds export":       `feedmill feeds export df_… --output orders.xlsx`,
	"feeds get":          `feedmill feeds get df_… --fields id,total --filter total:gt:100 --sort=-total`,
	"feeds link": `feedmill feeds link df_… --format csv --expires 30d
feedmill feeds link df_… --list`,
	"feeds list": `feedmill feeds list
feedmill feeds list --output ids`,
	"feeds pause":        `feedmill feeds pause df_…`,
	"feeds preview":      `feedmill feeds preview orders.csv`,
	"feeds preview rest": `feedmill feeds preview rest -f orders.json`,
	"feeds profile":      `feedmill feeds profile df_… --filter status:eq:paid`,
	"feeds chart":        `feedmill feeds chart df_… --group created_at:month --measure total`,
	"feeds lineage":      `feedmill feeds lineage df_…`,
	"feeds query":        `feedmill feeds query df_… --field shop --field total:sum=revenue --filter 'day:last:30 days' --sort=-revenue`,
	"feeds refresh":      `feedmill feeds refresh df_… --watch`,
	"feeds refreshes":    `feedmill feeds refreshes df_…`,
	"feeds resume":       `feedmill feeds resume df_…`,
	"feeds show":         `feedmill feeds show df_…`,
	"feeds test":         `feedmill feeds test -f orders.json`,
	"feeds update":       `feedmill feeds update df_… --name Orders --keep-versions 30`,
	"feeds upload": `feedmill feeds upload orders.csv --name Orders
feedmill feeds upload new-orders.csv --replace df_… --mode merge --key id`,
	"feeds versions": `feedmill feeds versions df_…
feedmill feeds versions df_… --restore 3`,
	"files check": `feedmill files check --deep`,
	"files copy":  `feedmill files copy --to "s3://feeds/feedmill?region=eu-central-1"`,
	"feeds wait":  `feedmill feeds wait df_… --timeout 5m`,
	"healthcheck": `feedmill healthcheck`,
	"keys create": `feedmill keys create ci --scopes api:read,events:publish`,
	"keys list":   `feedmill keys list`,
	"keys revoke": `feedmill keys revoke key_… --yes`,
	"listen": `feedmill listen
feedmill listen --print-secret
feedmill listen --events 'metric.*' --forward-to http://localhost:3000/hook`,
	"login": `feedmill login --server https://feeds.example.com
feedmill login --profile staging --server https://staging.example.com`,
	"mcp":      `feedmill mcp --profile production`,
	"logout":   `feedmill logout --profile staging`,
	"profiles": `feedmill profiles`,
	"query": `feedmill query warehouse sales.orders --field status --field total:sum=revenue --filter 'placed_at:last:30 days'
feedmill query warehouse sales.orders --filter status:eq:paid,open --create Orders --every 1h`,
	"restore": `feedmill restore /mnt/backups/feedmill --data ./restored
FEEDMILL_VAULT_KEY=… feedmill restore /mnt/backups/feedmill --database postgres://user:password@host/restored`,
	"resume":            `feedmill resume --data ./restored`,
	"trigger":           `feedmill trigger metric.created --to sub_…`,
	"serve":             `feedmill serve --data ./feedmill-data --listen 127.0.0.1:8080`,
	"services fields":   `feedmill services fields warehouse sales.orders`,
	"services list":     `feedmill services list`,
	"services try":      `feedmill services try service.yaml orders --config token=@token.txt`,
	"services validate": `feedmill services validate service.yaml`,
	"services values":   `feedmill services values warehouse sales.orders status`,
	"services views":    `feedmill services views warehouse`,
	"subscriptions create": `feedmill subscriptions create --url https://example.com/hook --events metric.created,tag.*
feedmill subscriptions create --url https://example.com/hook --events metric.updated --filter 'event.data.value > 100'`,
	"subscriptions delete":        `feedmill subscriptions delete sub_… --yes`,
	"subscriptions list":          `feedmill subscriptions list`,
	"subscriptions preview":       `feedmill subscriptions preview --filter 'event.data.value > 100' --event '{"type":"metric.updated","data":{"value":120}}'`,
	"subscriptions replay":        `feedmill subscriptions replay sub_… --since 24h --dry-run`,
	"subscriptions replay-cancel": `feedmill subscriptions replay-cancel sub_… rpl_…`,
	"subscriptions replay-status": `feedmill subscriptions replay-status sub_… rpl_…`,
	"subscriptions retry":         `feedmill subscriptions retry sub_…`,
	"subscriptions rotate":        `feedmill subscriptions rotate sub_… --overlap 24h`,
	"subscriptions show":          `feedmill subscriptions show sub_…`,
	"subscriptions test":          `feedmill subscriptions test sub_… --type metric.updated --data '{"value":120}'`,
	"subscriptions update": `feedmill subscriptions update sub_… --state paused
feedmill subscriptions update sub_… --rate-limit none --remove-header x-team`,
	"version":           `feedmill version --json`,
	"workspaces create": `feedmill workspaces create "Hof Lund ApS" --external-id shop-4411 --stored-bytes 1GB --subscriptions 20`,
	"workspaces delete": `feedmill workspaces delete "Hof Lund ApS" --yes`,
	"workspaces list":   `feedmill workspaces list`,
	"workspaces portal": `feedmill workspaces portal "Hof Lund ApS" --pages subscriptions,events --access write --expires 1h`,
	"workspaces show":   `feedmill workspaces show "Hof Lund ApS"`,
	"workspaces update": `feedmill workspaces update ws_… --subscriptions 50 --stored-bytes default`,
	"vault rotate":      `feedmill vault rotate --data ./feedmill-data`,
}

// addExamples sets the examples of all commands below parent.
func addExamples(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		_, path, _ := strings.Cut(cmd.CommandPath(), " ")
		if example := examples[path]; example != "" {
			cmd.Example = "  " + strings.ReplaceAll(example, "\n", "\n  ")
		}
		addExamples(cmd)
	}
}
