package main

import (
	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/internal/app"
)

func newBackup() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup TARGET",
		Short: "Back up the store to a folder or bucket",
		Long: `Copies the records and all files that they name to a folder or an S3 bucket
(s3://bucket/prefix?region=…). The server can run. Each backup at the same target copies only
files that the target does not have. The vault key is not included.

The credentials of the bucket are those of the server: FEEDMILL_BLOB_ACCESS_KEY and
FEEDMILL_BLOB_SECRET_KEY, else the AWS environment variables.`,
		Args: cobra.ExactArgs(1),
	}
	load := settings(cmd)
	log := cmd.Flags().Bool("with-log", false, "include finished deliveries (PostgreSQL; SQLite always includes them)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		return app.Backup(cmd.Context(), c, args[0], version, *log, cmd.OutOrStdout())
	}
	verify := &cobra.Command{
		Use:   "verify SOURCE",
		Short: "Verify all backups in a folder or bucket",
		Long:  `Reads all backups and compares every file with its checksum. Missing and damaged files are listed, and the exit code is 1.`,
		Args:  cobra.ExactArgs(1),
	}
	loadVerify := settings(verify)
	verify.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := loadVerify()
		if err != nil {
			return err
		}
		return app.VerifyBackups(cmd.Context(), c, args[0], cmd.OutOrStdout())
	}
	cmd.AddCommand(verify)
	return cmd
}

func newRestore() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore SOURCE",
		Short: "Restore a store from a backup",
		Long: `Restores the newest backup, or the one of --backup, to an empty data folder (--data) or to an
empty PostgreSQL database (--database). Files go to the data folder, or to the bucket of
FEEDMILL_BLOB_URL, which must be empty. The vault key must be that of the original: set
FEEDMILL_VAULT_KEY, or put vault.key into the data folder.

The restored store sends no deliveries and runs no refreshes until 'feedmill resume'. Run an
interrupted restore again to continue it.`,
		Args: cobra.ExactArgs(1),
	}
	load := settings(cmd)
	database := cmd.Flags().String("database", "", "URL of an empty PostgreSQL database; default: FEEDMILL_DATABASE_URL")
	backup := cmd.Flags().String("backup", "", "ID of the backup; default: the newest")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		if *database != "" {
			c.DatabaseURL = *database
		}
		return app.Restore(cmd.Context(), c, args[0], *backup, cmd.OutOrStdout())
	}
	return cmd
}

func newResume() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Let a restored store send deliveries and refresh feeds",
		Long: `A restored store sends no deliveries and runs no refreshes, so that it does not act beside its
original. Run this command when the restored store replaces the original. The server can run;
it starts within seconds.`,
		Args: cobra.NoArgs,
	}
	load := settings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		return app.Resume(cmd.Context(), c, cmd.OutOrStdout())
	}
	return cmd
}

func newFiles() *cobra.Command {
	parent := &cobra.Command{Use: "files", Short: "Check and move the stored files of feeds"}
	onlyHelps(parent)
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that all files of feeds exist and are undamaged",
		Long: `Checks that every file of every kept version exists and has its size. With --deep, every file is
read and compared with its SHA-256. The server can run. Missing and damaged files are listed, and
the exit code is 1.`,
		Args: cobra.NoArgs,
	}
	load := settings(cmd)
	deep := cmd.Flags().Bool("deep", false, "read every file and compare its checksum")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		return app.CheckFiles(cmd.Context(), c, *deep, cmd.OutOrStdout())
	}
	parent.AddCommand(cmd, newFilesCopy())
	return parent
}

func newFilesCopy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "copy --to LOCATION",
		Short: "Move the files of feeds to another folder or bucket",
		Long: `Copies all files of feeds from the data folder, or from the bucket of FEEDMILL_BLOB_URL. The target is
a bucket (s3://bucket/prefix?region=…) or the folder "files" of a data folder. Every copy is read
back and compared. Then the store records the new location.

Servers can run. They refuse new data for seconds before the switch, and after the switch until you
restart them with the new location. Run an interrupted command again to continue it. The former
files stay until you delete them.`,
		Args: cobra.NoArgs,
	}
	load := settings(cmd)
	to := cmd.Flags().String("to", "", "URL of a bucket, or the folder \"files\" of a data folder")
	credentials := cmd.Flags().String("to-credentials", "", "shared credentials `FILE` of the target; default: those of the server")
	_ = cmd.MarkFlagRequired("to") // which exists
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := load()
		if err != nil {
			return err
		}
		return app.MoveFiles(cmd.Context(), c, *to, *credentials, version, cmd.OutOrStdout())
	}
	return cmd
}
